"""Names to things: ``provider`` container, ``agent`` oracle, ``task`` eda/…, resolved when they are asked for.

A name is looked up in the built-in table, then among entry points of the group ``deskgym.<kind>``; a name with a
colon (``module:Attribute``) is taken as it is. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any

from desktop_env.errors import UsageError

BUILT_IN: dict[str, dict[str, str]] = {
    "provider": {
        "container": "desktop_env.providers.container:ContainerProvider",
        "qemu": "desktop_env.providers.qemu:QemuProvider",
        "libvirt": "desktop_env.providers.libvirt_vm:LibvirtProvider",
        "ssh": "desktop_env.providers.ssh_machine:SshProvider",
        "fake": "desktop_env.providers.fake:FakeProvider",
    },
    "agent": {
        "noop": "desktop_env.agents.noop:NoopAgent",
        "random": "desktop_env.agents.random:RandomAgent",
        "script": "desktop_env.agents.script:ScriptAgent",
        "oracle": "desktop_env.agents.oracle:OracleAgent",
    },
    "catalogue": {
        "tasks": "desktop_env.tasks.catalogue:folder",
        "all": "desktop_env.tasks.catalogue:all_tasks",
    },
    "evaluator": {
        "file": "desktop_env.evaluators.loading:load",
        "version": "desktop_env.evaluators.loading:version",
        "guest": "desktop_env.evaluators.artifacts:for_evaluator",
        "recording": "desktop_env.evaluators.artifacts:RecordingGuest",
        "kept": "desktop_env.evaluators.artifacts:KeptGuest",
        "edited": "desktop_env.evaluators.edited:EditedGuest",
        "asked": "desktop_env.evaluators.edited:asked",
    },
    "data": {"registry": "desktop_env.tasks.data:fetch", "folder": "desktop_env.tasks.data:fetch_from"},
    "image": {
        "store": "desktop_env.vm_images.store:Store",
        "export": "desktop_env.vm_images.transfer:export_image",
        "import": "desktop_env.vm_images.transfer:import_image",
    },
    "engine": {
        "local": "desktop_env.batch.local:make",
        "ray": "desktop_env.batch.ray_engine:make",
    },
}
EXTRAS = {
    "libvirt": "vm",
    "libvirt_qemu": "vm",
    "anthropic": "agents",
    "openai": "agents",
    "pandas": "evaluators",
    "pyarrow": "evaluators",
    "openpyxl": "evaluators",
    "cv2": "evaluators",
    "ray": "ray",
    "kaggle": "data",
    "openml": "data",
}
"""Optional packages and the extra that brings each."""


def names(kind: str) -> list[str]:
    """List the known names of a kind, built-in ones first."""
    found = dict.fromkeys(BUILT_IN.get(kind, {}))
    found.update(dict.fromkeys(point.name for point in entry_points(group=f"deskgym.{kind}")))
    return list(found)


def resolve(kind: str, name: str) -> Any:
    """Import and give what ``name`` stands for.

    Raises:
        UsageError: Unknown name (with the nearest ones), or an optional package is missing (with the extra).
    """
    return _load(_target(kind, name))


def _target(kind: str, name: str) -> str:
    if ":" in name:
        return name
    if name in BUILT_IN.get(kind, {}):
        return BUILT_IN[kind][name]
    for point in entry_points(group=f"deskgym.{kind}"):
        if point.name == name:
            return point.value
    raise unknown(kind, name, names(kind))


def _load(target: str) -> Any:
    module_name, _, attribute = target.partition(":")
    try:
        module = importlib.import_module(module_name)
        return getattr(module, attribute)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if extra := EXTRAS.get(missing):
            raise UsageError(f"{target} needs the package {missing}: pip install 'deskgym[{extra}]'") from error
        raise UsageError(f"cannot import {target}: {error}") from error
    except AttributeError as error:
        raise UsageError(f"module {module_name} has no {attribute!r}") from error


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Make the error for an unknown name: the nearest ones if any are near, otherwise what there is."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
    return UsageError(f"unknown {kind} {name!r}; {hint}")

"""What libvirt is told about a machine, and calls to it that have a deadline."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

from desktop_env.errors import GuestTimeout, HostError
from desktop_env.providers.vm_definition import Definition
from desktop_env.values import MachineSettings

libvirt_vm = pytest.importorskip("desktop_env.providers.libvirt_vm", exc_type=ImportError)
QEMU = "{http://libvirt.org/schemas/domain/qemu/1.0}"


def definition(accelerator: str = "tcg") -> Definition:
    odd = Path("/a <b>'&\",c")
    return Definition("v1", odd / "vmlinuz", odd / "initrd", odd / "disk", memory=3072, cpus=2, accelerator=accelerator)


def test_a_domain_is_the_machine_of_the_definition() -> None:
    machine = definition()
    root = ElementTree.fromstring(libvirt_vm.domain_xml(machine, own_user=False))
    assert root.get("type") == "qemu"
    assert root.findtext("name") == "deskgym-v1"
    assert root.findtext("memory") == "3072"
    assert root.findtext("os/kernel") == str(machine.kernel)
    assert root.findtext("os/cmdline") == machine.kernel_line
    left_out = ",".join(f"{one.get('name')}=off" for one in root.findall("cpu/feature[@policy='disable']"))
    assert f"max,{left_out}" == machine.cpu_model
    words = [str(arg.get("value")) for arg in root.iter(f"{QEMU}arg")]
    assert words[: len(machine.backends())] == machine.backends()
    assert any("restrict=on" in word and "hostfwd=tcp:127.0.0.1:0-" in word for word in words)
    assert root.findall("seclabel") == []
    assert not {child.tag for child in root.find("devices") or ()} & {"interface", "disk", "graphics"}


def test_kvm_and_the_hosts_own_libvirt_have_their_words() -> None:
    root = ElementTree.fromstring(libvirt_vm.domain_xml(definition("kvm"), own_user=True, confining=["apparmor"]))
    assert root.get("type") == "kvm"
    assert root.find("features/tcg") is None
    labels = {label.get("model"): label for label in root.findall("seclabel")}
    assert labels["dac"].findtext("label") == f"+{os.geteuid()}:+{os.getegid()}"
    assert labels["apparmor"].get("type") == "none"


def test_a_call_that_hangs_ends_at_its_deadline() -> None:
    calls = libvirt_vm.Calls()
    done = threading.Event()
    assert calls(lambda: 7, 10, "count") == 7
    with pytest.raises(ZeroDivisionError):
        calls(lambda: 1 // 0, 10, "divide")
    with pytest.raises(GuestTimeout, match=r"libvirt did not wait within 0\.01 s"):
        calls(done.wait, 0.01, "wait")
    done.set()
    calls.close()


def test_a_libvirt_that_is_not_there_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    uri = f"qemu:///system?socket={tmp_path}/none"
    with pytest.raises(HostError, match="libvirt does not answer at .*remedy: .*libvirtd"):
        libvirt_vm.LibvirtProvider(uri=uri).start(MachineSettings("debian-12"))

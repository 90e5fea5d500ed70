"""What a machine needs to be a desktop for agents: what of it is missing there, and putting it there.

A machine that is attached to is looked at with its own tools alone, so that a bare one can say what it lacks.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import shlex
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from desktop_env.errors import GuestError, HostError, ImageError, UsageError
from desktop_env.protocols import Guest
from desktop_env.vm_images.layers import guest_files
from desktop_env.vm_images.recipe import Recipe, load
from desktop_env.vm_images.store import Store

LIB = "/usr/lib/deskgym"
LINK = "/run/host-link"
PROGRAMS = (
    *("Xvnc", "xfwm4", "xfsettingsd", "xfce4-panel", "xfdesktop", "dbus-daemon"),
    *("xprop", "setpriv", "setsid", "flock", "pgrep", "python3"),
)
"""What the session and the provider run."""
MODULES = ("gi", "Xlib")
"""What the helper imports."""
WORK = ("xfce4-terminal", "chromium", "code", "jupyter-lab")
"""Programs that tasks ask for; a desktop is one without them, too."""
PARTS = ("init", "session", "helper")
ENVIRONMENT = "/etc/environment"
SESSION = "session"
RECIPES = {"debian": "debian-12", "ubuntu": "ubuntu-24.04"}
KEPT = ("etc/ssh/", "etc/systemd/", "etc/environment", "usr/local/bin/code")
"""Beginnings of guest files that are not put on a machine: it has its own, or lacks what they are for."""
UNIT = "etc/systemd/system/deskgym-attached.service"
LOOK_TIMEOUT = 60.0
APT_TIMEOUT = 3600.0
INSTALL_TIMEOUT = 600.0
START_TIMEOUT = 60.0

LOOK = """\
PATH=/opt/python/bin:/usr/local/bin:$PATH
[ "$(uname -s)" = Linux ] || echo system
for name in {programs}; do command -v "$name" >/dev/null || echo "program $name"; done
for name in {modules}; do /usr/bin/python3 -c "import $name" 2>/dev/null || echo "module $name"; done
id -u user >/dev/null 2>&1 && [ -d /home/user ] || echo account
for name in {parts}; do [ -x {lib}/$name ] || echo "part $name"; done
sha256sum {lib}/helper 2>/dev/null | sed 's/ .*//;s/^/helper /'
[ -e {link}/ready ] && [ -S {link}/rfb.sock ] && pgrep -u user -x Xvnc >/dev/null || echo session
[ -S /tmp/.X11-unix/X0 ] && [ ! -S {link}/rfb.sock ] && echo display
for name in {work}; do command -v "$name" >/dev/null || echo "work $name"; done
. /etc/os-release 2>/dev/null && echo "distribution $ID"
"""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a machine lacks. ``needed``: without it is no desktop; ``installs``: `install` puts it there."""

    what: str
    message: str
    needed: bool = True
    installs: bool = True


def look(guest: Guest) -> list[Missing]:
    """Say what is missing on a machine where commands as root work; empty when it is a whole desktop.

    Raises:
        GuestError: The machine does not answer.
    """
    return list(judge(_facts(guest)))


def _facts(guest: Guest) -> list[str]:
    names = {"programs": PROGRAMS, "modules": MODULES, "parts": PARTS, "work": WORK}
    script = LOOK.format(lib=LIB, link=LINK, **{key: " ".join(words) for key, words in names.items()})
    result = guest.run(script, user="root", timeout=LOOK_TIMEOUT, max_output=1 << 16)
    if not result.stdout.strip():
        raise GuestError(f"the machine cannot be looked at: {result.stderr.strip()[-500:] or 'it said nothing'}")
    return result.stdout.splitlines()


def judge(facts: Iterable[str]) -> Iterator[Missing]:
    """Turn what `LOOK` printed into messages; lines of other forms are left out."""
    facts = list(facts)
    if "system" in facts:
        yield Missing("system", "it does not run Linux", installs=False)
        return
    for line in facts:
        kind, _, name = line.partition(" ")
        if kind == "program" and name in PROGRAMS:
            yield Missing(name, f"{name} is missing")
        elif kind == "module" and name in MODULES:
            yield Missing(name, f"Python's {name} is missing")
        elif kind == "part" and name in PARTS:
            yield Missing(f"{LIB}/{name}", f"{LIB}/{name} is missing")
        elif kind == "helper" and name != _our_helper():
            yield Missing(f"{LIB}/helper", "its guest parts are of another version of deskgym")
        elif kind == "work" and name in WORK:
            yield Missing(name, f"{name} is missing: tasks that use it cannot be done", needed=False, installs=False)
    if "account" in facts:
        yield Missing("user", "the account user with /home/user is missing")
    if "display" in facts:
        yield Missing("display", "its screen :0 belongs to another X server; end its display manager", installs=False)
    elif "session" in facts:
        yield Missing(SESSION, "the desktop session does not run")


def _our_helper() -> str:
    return hashlib.sha256((load().configuration.guest / LIB[1:] / "helper").read_bytes()).hexdigest()


def install(guest: Guest, tell: Callable[[str], None]) -> None:
    """Make a machine a desktop for agents: Debian's packages, the account ``user``, our parts, and the session.

    Its own SSH server, network and other accounts stay as they are; settings of programs become ours, for everyone on
    it. Doing it again puts newer parts in place.

    Args:
        guest: The machine; commands as root must work.
        tell: Called with what is done next.

    Raises:
        HostError: A step fails there; the message has what it said.
        GuestError: The machine does not answer.
    """
    recipe = _recipe(guest)
    tell("packages")
    listed = " ".join(shlex.quote(name) for name in recipe.packages)
    _root(guest, APT.format(packages=listed), APT_TIMEOUT)
    tell("guest files")
    parts = _archive(recipe)
    _root(guest, "tar -x -C / --no-same-owner --keep-directory-symlink -f -", INSTALL_TIMEOUT, stdin=parts)
    tell("account and caches")
    _root(guest, f"{LIB}/prepare", INSTALL_TIMEOUT)
    tell("environment")
    theirs = _root(guest, f"cat {ENVIRONMENT} 2>/dev/null || true", LOOK_TIMEOUT)
    user_id = _root(guest, "id -u user", LOOK_TIMEOUT).strip()
    guest.write(ENVIRONMENT, merge_environment(theirs, _environment(recipe, user_id)).encode(), user="root")
    tell("session")
    _root(guest, START, START_TIMEOUT)


APT = """\
set -- {packages}
missing=$(for name; do
    dpkg-query -W -f '${{Status}}' "$name" 2>/dev/null | grep -q 'ok installed' || echo "$name"
done)
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || {{ echo "no apt-get; missing:" $missing >&2; exit 1; }}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null
"""
START = f"""\
mkdir -p /etc/deskgym/machine
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable --quiet deskgym-attached.service
    exec systemctl restart deskgym-attached.service
fi
pgrep -u user -x Xvnc >/dev/null && exit 0
rm -f {LINK}/ready {LINK}/rfb.sock
setsid -f {LIB}/init </dev/null >/dev/null 2>&1
"""


def _recipe(guest: Guest) -> Recipe:
    """Give the recipe for the machine's distribution."""
    found = [line.partition(" ")[2] for line in _facts(guest) if line.startswith("distribution ")]
    if not found or found[0] not in RECIPES:
        raise HostError(f"guest parts can be installed on {' and '.join(RECIPES)} only, not on {found or 'this'}")
    return load(RECIPES[found[0]])


def _root(guest: Guest, script: str, timeout: float, stdin: bytes = b"") -> str:
    result = guest.run(script, user="root", timeout=timeout, stdin=stdin)
    if not result.ok:
        said = result.stderr.strip()[-800:] or ("it took too long" if result.timed_out else f"exit {result.exit_code}")
        raise HostError(f"installing on the machine failed: {said}")
    return result.stdout


def _environment(recipe: Recipe, user_id: str) -> str:
    """Give what programs of the desktop get, where its account has another number than in an image."""
    text = (recipe.configuration.guest / ENVIRONMENT[1:]).read_text(encoding="utf-8")
    return text.replace("/run/user/1000", f"/run/user/{user_id}")


def merge_environment(theirs: str, ours: str) -> str:
    """Give the lines of both: of two for the same name, ours."""
    names = {line.partition("=")[0] for line in ours.splitlines() if "=" in line}
    kept = [line for line in theirs.splitlines() if line.strip() and line.partition("=")[0].strip() not in names]
    return "\n".join([*kept, *ours.splitlines()]) + "\n"


def _archive(recipe: Recipe) -> bytes:
    """Pack the guest's files, owned by root or, below home/user, by the user; folders of the machine stay its own."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, path in _files(recipe).items():
            facts = tarfile.TarInfo(name)
            if path.is_symlink():
                facts.type, facts.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(facts)
                continue
            content = path.read_bytes()
            facts.size = len(content)
            facts.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(facts, io.BytesIO(content))
    return stream.getvalue()


def _files(recipe: Recipe) -> Mapping[str, Path]:
    """Give what is put on a machine: names there to files here."""
    found = {
        name: path
        for name, path in guest_files(recipe).items()
        if name == UNIT or (not path.is_dir() and not name.startswith(KEPT))
    }
    reader = f"{LIB[1:]}/atspi-tree"
    with contextlib.suppress(ImageError, OSError, UsageError):  # the helper has a slower one of its own
        for layer in Store.default().get(recipe.name).layers:
            if (layer / reader).exists():
                found[reader] = layer / reader
    return found

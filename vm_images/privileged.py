"""The part of the image builder that runs as root: ``python3 -I privileged.py OPERATION JSON``.

Stands alone on the standard library, so that ``sudo`` runs this one file and nothing else of the project. Every path
it is given must lie below ``root`` of the request, the folder of the image store. An operation prints one line of
JSON as its result, after whatever its programs print. It ends, with all that it started, when its standard input is
closed: that is how a caller without the right to signal it calls it off.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import json
import mmap
import os
import shlex
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

UID_SHIFT = 524288
"""Added to every uid and gid of a layer: root of a container is this uid on the host."""

MAX_LEAKS = 200
_OPAQUE = "trusted.overlay.opaque"
_KEPT_XATTRS = ("security.capability", _OPAQUE)
_TAR = ("--numeric-owner", "--xattrs", *(f"--xattrs-include={name}" for name in _KEPT_XATTRS))
_DEVICES = ("null", "zero", "full", "random", "urandom")
_NOTHING = {"ok": True}

Owner = Callable[[str, os.stat_result], tuple[int, int]]


class Refused(Exception):
    """Raised when a request is not one that this program carries out; its text says why."""


# ---- operations ------------------------------------------------------------------------------------------------


def bootstrap(request: dict[str, Any]) -> dict[str, Any]:
    """Make ``tree`` a Debian system (mmdebstrap, with the host's apt set-up); see `bootstrap_command`."""
    tree = _below(request, "tree")
    _run_in_namespace(["--mount-proc"], bootstrap_command(request), request["deadline"])
    for folder in request.get("mountpoints", ()):
        (tree / folder).mkdir(parents=True, exist_ok=True)
    return _NOTHING


def bootstrap_command(request: dict[str, Any]) -> list[str]:
    """Give the command that makes ``tree`` a system of ``suite`` with ``packages``.

    ``mirrors`` are lines of sources.list in place of those that mmdebstrap knows; ``sources``, a file of such lines,
    comes on top of them.
    """
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"]
    command += ["--aptopt=APT::Install-Recommends false", "--aptopt=Acquire::Retries 3"]
    command += ["--dpkgopt=force-unsafe-io", "--dpkgopt=path-exclude=/usr/share/doc/*"]
    command += ["--dpkgopt=path-include=/usr/share/doc/*/copyright"]
    for path in ("man", "info", "help", "locale", "gtk-doc", "lintian", "javascript/mathjax"):
        command.append(f"--dpkgopt=path-exclude=/usr/share/{path}/*")
    command.append(f"--keyring={request['keyring']}")
    if request.get("sources"):  # the keys it names lie in folders of the caller, which apt's own user may not enter
        command += ['--aptopt=APT::Sandbox::User "root"']
        command += [f"--setup-hook=copy-in {shlex.quote(request['sources'])} /etc/apt/sources.list.d"]
    command += [f"--include={','.join(request['packages'])}", request["suite"], str(request["tree"])]
    return [*command, *request.get("mirrors", ())]


def seal(request: dict[str, Any]) -> dict[str, Any]:
    """Take out of ``tree`` what belongs to the building machine or to one machine alone, then shift its owners."""
    tree = _below(request, "tree")
    _forget_machine(tree)
    _chown_tree(tree, lambda path, facts: (facts.st_uid + UID_SHIFT, facts.st_gid + UID_SHIFT))
    return _NOTHING


def adopt(request: dict[str, Any]) -> dict[str, Any]:
    """Give ``tree`` to the guest's root, and what is below ``user_folder`` (relative) to the guest's uid 1000.

    Modes become 0755 for folders and programs and 0644 for other files, whatever the caller's umask was.
    """
    tree = _below(request, "tree")
    home = str(tree / request["user_folder"]) if request.get("user_folder") else None

    def owner(path: str, facts: os.stat_result) -> tuple[int, int]:
        inside = home is not None and (path == home or path.startswith(home + "/"))
        uid = UID_SHIFT + (1000 if inside else 0)
        return uid, uid

    for path, facts in _walk(tree):
        if not stat.S_ISLNK(facts.st_mode):
            Path(path).chmod(0o755 if facts.st_mode & stat.S_IXUSR else 0o644)

    _chown_tree(tree, owner)
    return _NOTHING


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run ``command`` in the root filesystem ``rootfs`` as the guest's root, without network and privileges.

    ``binds`` are pairs (folder below the store, place in the root filesystem); they can be written to, the root
    filesystem itself cannot. ``environment`` is all the environment there is.
    """
    binds = [[str(_below(request, None, source)), target] for source, target in request.get("binds", ())]
    _enter_namespace(
        _below(request, "rootfs"),
        request["command"],
        request["deadline"],
        binds=binds,
        environment=request.get("environment", {}),
        folder=request.get("folder", "/"),
    )
    return _NOTHING


def configure(request: dict[str, Any]) -> dict[str, Any]:
    """Run ``command`` as root, without network, in ``lower`` with ``tree`` laid over it; ``tree`` gets what changes.

    ``work`` is an empty folder on the same file system. Owners are shifted afterwards where they are not yet.
    """
    tree, work = _below(request, "tree"), _below(request, "work")
    folders = {"lowerdir": _below(request, "lower"), "upperdir": tree, "workdir": work / "overlay"}
    for folder in (work / "overlay", work / "merged"):
        folder.mkdir()
    if any(set(",:\\") & set(str(folder)) for folder in folders.values()):
        raise Refused(f"an overlay cannot have a path with a comma, colon or backslash: {tree}")
    own = {path.name for path in tree.iterdir()}
    options = [f"{name}={folder}" for name, folder in folders.items()] + ["index=off", "metacopy=off"]
    command, deadline = request["command"], request["deadline"]
    _enter_namespace(work / "merged", command, deadline, uid=0, overlay=",".join(options))
    for name in sorted({"dev", "proc", "tmp", "run"} - own):  # made for mounting only
        _remove(tree / name)
    for path, _facts in _walk(tree):
        for name in os.listxattr(path, follow_symlinks=False):
            if name.startswith("trusted.overlay.") and name != _OPAQUE:
                os.removexattr(path, name, follow_symlinks=False)
    _chown_tree(tree, lambda path, facts: (_shifted(facts.st_uid), _shifted(facts.st_gid)))
    return _NOTHING


def prune(request: dict[str, Any]) -> dict[str, Any]:
    """Remove from ``tree`` what ``patterns`` match (as `Path.glob`), except paths with a part in ``keep``."""
    tree, keep = _below(request, "tree"), set(request.get("keep", ()))
    for pattern in request["patterns"]:
        for path in sorted(tree.glob(pattern), reverse=True):
            if keep.isdisjoint(path.relative_to(tree).parts):
                _remove(path)
    return _NOTHING


def stamp(request: dict[str, Any]) -> dict[str, Any]:
    """Set the time of change of everything in ``tree`` to ``time`` (seconds since 1970)."""
    tree, when = _below(request, "tree"), request["time"]
    for path, _facts in _walk(tree):
        os.utime(path, (when, when), follow_symlinks=False)
    return _NOTHING


def digest(request: dict[str, Any]) -> dict[str, Any]:
    """Give SHA-256 over paths, kinds, modes, guest owners, capabilities and contents; also bytes and files."""
    tree = _below(request, "tree")
    whole, seen = hashlib.sha256(), dict[int, int]()
    for path, facts in sorted(_walk(tree)):
        fields = [os.path.relpath(path, tree), f"{facts.st_mode:o}"]
        fields += [str(facts.st_uid - UID_SHIFT), str(facts.st_gid - UID_SHIFT)]
        if stat.S_ISREG(facts.st_mode):
            with Path(path).open("rb", buffering=0) as file:
                fields.append(hashlib.file_digest(file, "sha256").hexdigest())
            seen[facts.st_ino] = facts.st_size
        elif stat.S_ISLNK(facts.st_mode):
            fields.append(str(Path(path).readlink()))
        fields += [f"{name}={value.hex()}" for name, value in _xattrs(path).items()]
        whole.update(b"\0".join(os.fsencode(field) for field in fields) + b"\n")
    return {"digest": whole.hexdigest(), "bytes": sum(seen.values()), "files": len(seen)}


def leaks(request: dict[str, Any]) -> dict[str, Any]:
    """Find ``needles`` in the names, link targets and contents of ``tree``; at most `MAX_LEAKS` pairs."""
    tree, needles = _below(request, "tree"), [os.fsencode(text) for text in request["needles"]]
    found: list[tuple[str, str]] = []
    for path, facts in _walk(tree):
        name = os.path.relpath(path, tree)
        texts: list[bytes | mmap.mmap] = [os.fsencode(name)]
        if stat.S_ISLNK(facts.st_mode):
            texts.append(os.fsencode(Path(path).readlink()))
        elif stat.S_ISREG(facts.st_mode) and facts.st_size:
            with Path(path).open("rb") as file:
                texts.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        found += [(name, os.fsdecode(one)) for one in needles if any(text.find(one) >= 0 for text in texts)]
        if len(found) >= MAX_LEAKS:
            break
    return {"found": found[:MAX_LEAKS]}


def pack(request: dict[str, Any]) -> dict[str, Any]:
    """Write ``manifest`` and the trees of ``layers`` (names of folders) to ``file``, which the store's owner gets."""
    root, file, manifest = Path(request["root"]), _below(request, "file"), _below(request, "manifest")
    members = [f"layers/{_plain(name)}/tree" for name in request["layers"]]
    command = ["tar", "--create", f"--file={file}", f"--use-compress-program={request['compress']}", *_TAR]
    command += ["--sort=name", "--format=pax"]
    command += ["--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"]
    command += [f"--directory={manifest.parent}", manifest.name, f"--directory={root}", *members]
    _run_in_namespace([], command, request["deadline"])
    os.chown(file, root.stat().st_uid, root.stat().st_gid)
    return {"bytes": file.stat().st_size}


def unpack(request: dict[str, Any]) -> dict[str, Any]:
    """Take the trees of ``layers`` out of ``file`` into ``tree``, with owners, capabilities and whiteouts."""
    tree, file = _below(request, "tree"), _below(request, "file")
    members = [f"layers/{_plain(name)}/tree" for name in request["layers"]]
    command = ["tar", "--extract", f"--file={file}", f"--use-compress-program={request['compress']}", *_TAR]
    command += ["--same-owner", "--same-permissions", "--delay-directory-restore", f"--directory={tree}", *members]
    _run_in_namespace([], command, request["deadline"])
    return _NOTHING


def disk(request: dict[str, Any]) -> dict[str, Any]:
    """Make ``target`` an ext4 file system of ``size`` bytes with what an overlay of ``layers`` (lowest first) shows.

    Owners are those that the guest sees. ``work`` is an empty folder, ``uuid`` the file system's. The file belongs to
    the owner of the store. No loop device is used, nor a partition table made.
    """
    layers = [str(_below(request, None, layer)) for layer in request["layers"]]
    target, work = _below(request, "target"), _below(request, "work")
    if any(set(",:\\") & set(layer) for layer in layers):
        raise Refused(f"an overlay cannot have a path with a comma, colon or backslash: {layers}")
    with target.open("xb") as file:
        file.truncate(request["size"])
    inside = {"layers": layers, "target": str(target), "work": str(work), "uuid": request["uuid"]}
    try:
        command = [sys.executable, "-I", __file__, "_disk", json.dumps(inside)]
        _run_in_namespace(["--mount-proc"], command, request["deadline"])
    except Refused:
        target.unlink()
        raise
    owner = Path(request["root"]).stat()
    os.chown(target, owner.st_uid, owner.st_gid)
    return {"used": target.stat().st_blocks * 512}


def remove(request: dict[str, Any]) -> dict[str, Any]:
    """Remove ``tree``, which may be absent; refused while something is mounted in it."""
    _remove(_below(request, "tree"))
    return _NOTHING


OPERATIONS = {
    one.__name__: one
    for one in (bootstrap, seal, adopt, run, configure, prune, stamp, digest, leaks, pack, unpack, disk, remove)
}


# ---- trees -----------------------------------------------------------------------------------------------------


def _below(request: dict[str, Any], key: str | None, value: str | None = None) -> Path:
    root, path = Path(request["root"]), Path(value if key is None and value else request[str(key)])
    if not root.is_absolute() or root.resolve() != root or len(root.parts) < 3:
        raise Refused(f"not a folder for images: {root}")
    if not path.is_absolute() or root not in (path.parent.resolve() / path.name).parents or path.is_symlink():
        raise Refused(f"not below {root}: {path}")
    return path


def _plain(name: str) -> str:
    if "/" in name or name.startswith((".", "-")):
        raise Refused(f"not the name of a layer: {name}")
    return name


def _walk(tree: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Give every path of ``tree``, itself first, with its facts; links are not followed."""
    pending = [str(tree)]
    yield str(tree), os.lstat(tree)
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                yield entry.path, entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)


def _xattrs(path: str) -> dict[str, bytes]:
    names = os.listxattr(path, follow_symlinks=False)
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in _KEPT_XATTRS if name in names}


def _chown_tree(tree: Path, owner: Owner) -> None:
    """Set the owners of ``tree``, keeping what the kernel drops on the way: setuid bits and capabilities."""
    seen: set[int] = set()
    for path, facts in list(_walk(tree)):
        if facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode):
            if facts.st_ino in seen:
                continue
            seen.add(facts.st_ino)
        kept = _xattrs(path)
        os.lchown(path, *owner(path, facts))
        if facts.st_mode & (stat.S_ISUID | stat.S_ISGID) and not stat.S_ISLNK(facts.st_mode):
            Path(path).chmod(stat.S_IMODE(facts.st_mode))
        for name, value in kept.items():
            os.setxattr(path, name, value, follow_symlinks=False)


def _shifted(number: int) -> int:
    return number if number >= UID_SHIFT else number + UID_SHIFT


def _remove(path: Path) -> None:
    with Path("/proc/self/mountinfo").open(encoding="utf-8", errors="surrogateescape") as lines:
        mounts = [line.split()[4].replace("\\040", " ") for line in lines]
    if any(mount == str(path) or mount.startswith(f"{path}/") for mount in mounts):
        raise Refused(f"something is mounted in {path}")
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _forget_machine(tree: Path) -> None:
    """Remove what differs from machine to machine, caches, and the set-up of the building machine's clients."""
    patterns = ["etc/ssh/ssh_host_*", "etc/apt/sources.list.d/*", "etc/apt/apt.conf.d/99mmdebstrap"]
    patterns += ["etc/dpkg/dpkg.cfg.d/99mmdebstrap", "etc/*-", "var/lib/dbus/machine-id", "var/lib/systemd/random-seed"]
    patterns += ["var/cache/apt/*", "var/cache/debconf/*-old", "var/cache/ldconfig/*", "var/lib/apt/lists/*"]
    patterns += ["var/lib/dpkg/*-old", "var/log/*.log", "var/log/apt/*", "var/log/journal", "var/backups/*"]
    patterns += ["usr/share/locale/*", "usr/share/man/*", "usr/share/info/*", "dev/*", "proc/*", "sys/*", "run/*"]
    patterns += ["tmp/*", "tmp/.[!.]*", "var/tmp/*"]
    for pattern in patterns:
        for path in tree.glob(pattern):
            _remove(path)
    no_sources = "# The machine has no network.\n"
    files = {
        "etc/apt/sources.list": no_sources,
        "etc/hostname": "desktop\n",
        "etc/resolv.conf": "",
        "etc/machine-id": "",
    }
    for name, text in files.items():
        (tree / name).unlink(missing_ok=True)
        with (tree / name).open("x", encoding="utf-8") as file:
            file.write(text)


# ---- processes -------------------------------------------------------------------------------------------------


def _run_in_namespace(flags: list[str], command: list[str], deadline: float) -> None:
    """Run ``command`` with its own mounts and process ids; its end is the end of all that it started."""
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *flags, "--", *command]
    with subprocess.Popen(unshare, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT) as child:
        _CHILDREN.append(child)
        try:
            code = child.wait(deadline)
        except subprocess.TimeoutExpired:
            child.kill()
            raise Refused(f"{command[0]} did not end within {deadline:g} s") from None
        finally:
            _CHILDREN.remove(child)
    if code:
        raise Refused(f"{command[0]} ended with {code}")


def _enter_namespace(
    rootfs: Path,
    command: list[str],
    deadline: float,
    *,
    binds: list[list[str]] | None = None,
    environment: dict[str, str] | None = None,
    folder: str = "/",
    uid: int = UID_SHIFT,
    overlay: str = "",
) -> None:
    inside = {
        "rootfs": str(rootfs),
        "command": command,
        "binds": binds or [],
        "environment": {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            **(environment or {}),
        },
        "folder": folder,
        "uid": uid,
        "overlay": overlay,
    }
    flags = ["--net", "--ipc", "--uts"]
    _run_in_namespace(flags, [sys.executable, "-I", __file__, "_inside", json.dumps(inside)], deadline)


def _inside(request: dict[str, Any]) -> None:
    """Runs in the new namespaces: mount, change root, give up all privileges, become the command."""
    rootfs = request["rootfs"]
    if request["overlay"]:
        _mount("-t", "overlay", "-o", request["overlay"], "overlay", rootfs)
        for device in _DEVICES:
            Path(f"{rootfs}/dev/{device}").touch()
    else:
        _mount("--bind", rootfs, rootfs)
        _mount("-o", "remount,bind,ro", rootfs)
    for source, target in request["binds"]:
        _mount("--bind", source, rootfs + target)
    for device in _DEVICES:
        if Path(f"{rootfs}/dev/{device}").exists():
            _mount("--bind", f"/dev/{device}", f"{rootfs}/dev/{device}")
    _mount("-t", "proc", "proc", f"{rootfs}/proc")
    for folder in ("tmp", "dev/shm"):
        if Path(rootfs, folder).is_dir():
            _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{rootfs}/{folder}")
    _loopback_up()
    os.chroot(rootfs)
    os.chdir(request["folder"])
    os.umask(0o022)
    if request["uid"]:
        os.setgroups([])
        os.setgid(request["uid"])
        os.setuid(request["uid"])
        set_no_new_privileges = 38
        ctypes.CDLL(None).prctl(set_no_new_privileges, 1, 0, 0, 0)
    os.execvpe(request["command"][0], request["command"], request["environment"])


def _disk(request: dict[str, Any]) -> None:
    """Runs in the new namespaces: mount the layers, and fill the disk as one who sees the guest's owners."""
    work, target = request["work"], os.open(request["target"], os.O_RDWR)
    lower = ":".join(reversed(request["layers"]))
    _mount("-t", "overlay", "-o", f"ro,lowerdir={lower}", "overlay", work)
    os.chdir(work)  # the guest's root may look at what is here, and perhaps not at the folders that lead here
    os.fchown(target, UID_SHIFT, UID_SHIFT)  # it is opened once more below, with no more rights than the guest's root
    os.set_inheritable(target, True)
    mine, its = socket.socketpair()
    child = os.fork()
    if child == 0:
        new_user_namespace = 0x10000000
        failed = ctypes.CDLL(None).unshare(new_user_namespace)
        its.send(b"0" if failed else b"1")
        its.recv(1)
        os.setgid(0)
        os.setuid(0)
        features = f"lazy_itable_init=1,lazy_journal_init=1,hash_seed={request['uuid']}"
        command = ["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-L", "deskgym", "-U", request["uuid"]]
        os.execvp(command[0], [*command, "-E", features, "-d", ".", f"/proc/self/fd/{target}"])
    if mine.recv(1) != b"1":
        sys.exit("this kernel does not allow user namespaces")
    for kind in ("uid", "gid"):
        Path(f"/proc/{child}/{kind}_map").write_text(f"0 {UID_SHIFT} 65536\n")
    mine.send(b"1")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, timeout=60)


def _loopback_up() -> None:
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, get_flags, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", answer)[1]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", flags | up))


_CHILDREN: list[subprocess.Popen[bytes]] = []


def _stop(*_ignored: object) -> None:
    for child in list(_CHILDREN):
        child.kill()
    os._exit(1)


def _stop_when_called_off() -> None:
    while os.read(0, 1024):  # not through sys.stdin, whose lock would be held at our own end
        pass
    _stop()


def main(arguments: list[str]) -> int:
    """Carry out one operation; 0 when done, 1 with the reason on the last line when not."""
    if len(arguments) == 2 and arguments[0] == "_inside":
        _inside(json.loads(arguments[1]))
    if len(arguments) == 2 and arguments[0] == "_disk":
        _disk(json.loads(arguments[1]))
    if len(arguments) != 2 or arguments[0] not in OPERATIONS:
        sys.stderr.write(f"usage: privileged.py {{{','.join(OPERATIONS)}}} JSON\n")
        return 2
    os.umask(0o022)
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_stop_when_called_off, daemon=True).start()
    try:
        result = OPERATIONS[arguments[0]](json.loads(arguments[1]))
    except (Refused, OSError) as error:
        sys.stdout.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

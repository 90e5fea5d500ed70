"""Virtual machines without one: the command line, the choice of KVM, the monitor, snapshots, the first programs."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desktop_env.errors import GuestError, GuestTimeout, ImageError
from desktop_env.providers.qmp import QMP, MonitorError, silent
from desktop_env.providers.snapshots import Moment, Snapshots
from desktop_env.providers.vm_definition import Definition, choose_accelerator
from desktop_env.providers.vm_entry import Look
from desktop_env.vm_images import initramfs

DEFINITION = Definition(
    *("one", Path("/k/vmlinuz"), Path("/k/initrd"), Path("/m/one, two/disk.qcow2")),
    memory=3072,
    cpus=2,
    accelerator="tcg",
    handed={"token": Path("/m/token")},
    serial=Path("/m/serial.log"),
)


def test_command_line_isolates_the_guest_and_quotes_paths() -> None:
    words = DEFINITION.command(7, paused=True)
    line = " ".join(words)
    assert "restrict=on" in line
    assert "hostfwd=tcp:127.0.0.1:0-10.0.2.15:5930" in line
    assert "file=/m/one,, two/disk.qcow2" in line
    assert "name=opt/deskgym/token,file=/m/token" in line
    assert "socket,id=monitor,fd=7" in line
    assert words[-1] == "-S"


def test_a_snapshot_is_bound_to_what_the_guest_sees_and_not_to_where_it_lies() -> None:
    facts = {"image": "a", "qemu": "7"}
    key = DEFINITION.digest(facts)
    assert replace(DEFINITION, name="two", disk=Path("/elsewhere"), handed={}, serial=None).digest(facts) == key
    others = [replace(DEFINITION, memory=4096), replace(DEFINITION, cpus=4), replace(DEFINITION, accelerator="kvm")]
    assert key not in [other.digest(facts) for other in others]
    assert key not in [DEFINITION.digest({**facts, "qemu": "8"}), DEFINITION.digest({**facts, "image": "b"})]


def test_kvm_needs_the_device_and_the_processor(tmp_path: Path) -> None:
    able, unable = tmp_path / "able", tmp_path / "unable"
    able.write_text("flags : fpu vmx sse\n")
    unable.write_text("flags : fpu svmx hypervisor\n")
    assert choose_accelerator(able, Path("/dev/null")).name == "kvm"
    assert "neither vmx nor svm" in choose_accelerator(unable, Path("/dev/null")).note
    assert "cannot be opened" in choose_accelerator(able, tmp_path / "absent").note


def qemu_that_says(*answers: dict[str, object] | None) -> socket.socket:
    """Give a monitor's socket: a greeting, an answer to the first command, then these; None ends the connection."""
    ours, its = socket.socketpair()

    def talk() -> None:
        with its, its.makefile("rwb") as stream:
            stream.write(b'{"QMP": {}}\n')
            stream.flush()
            said: list[dict[str, object] | None] = [{"return": {}}, *answers]
            for answer in said:
                number = json.loads(stream.readline())["id"]
                if answer is None:
                    return
                stream.write(b'{"event": "RESUME"}\n' + json.dumps({**answer, "id": number}).encode() + b"\n")
                stream.flush()
            stream.read()

    threading.Thread(target=talk, daemon=True).start()
    return ours


def test_monitor_tells_refusals_silence_and_death_apart() -> None:
    monitor = QMP(qemu_that_says({"return": {"running": True}}, {"error": {"desc": "no such thing"}}, None))
    assert monitor.execute("query-status") == {"running": True}
    with pytest.raises(MonitorError, match="no such thing"):
        monitor.execute("odd")
    with pytest.raises(GuestError, match="has ended"):
        monitor.execute("query-status")
    monitor.close()
    mute = QMP(qemu_that_says())
    with pytest.raises(GuestTimeout):
        mute.execute("query-status", timeout=0.05)
    mute.close()


def test_what_loadvm_prints_is_its_failure() -> None:
    monitor = QMP(qemu_that_says({"return": ""}, {"return": "Error: Snapshot 'ready' does not exist\r\n"}))
    silent(monitor, "loadvm ready", timeout=5)
    with pytest.raises(MonitorError, match="does not exist"):
        silent(monitor, "loadvm ready", timeout=5)
    monitor.close()


def moment(tag: str, *, still: bool = True) -> Moment:
    sample = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) if still else None
    return Moment(tag, "secret", "key", Look(frozenset({3, 5}), sample, blank=False))


def test_snapshots_that_are_unfinished_changed_or_copied_are_not_found(tmp_path: Path) -> None:
    snapshots, key = Snapshots(tmp_path / "snapshots"), "ab" * 32
    with snapshots.making(key) as work:
        (work / "overlay.qcow2").write_bytes(b"state")
        assert snapshots.find(key) is None
        made = snapshots.publish(key, work, {key: moment("one"), "other": moment("two", still=False)})
    found = snapshots.find(key)
    assert found is not None
    assert (found.overlay, found.moments["other"]) == (made.overlay, moment("two", still=False))
    assert np.array_equal(found.moments[key].look.sample, moment("one").look.sample)  # type: ignore[arg-type]
    assert made.overlay.with_name("moments.json").stat().st_mode & 0o077 == 0
    assert snapshots.find("cd" * 32) is None
    copy = made.overlay.with_name("copy")
    copy.write_bytes(made.overlay.read_bytes())
    os.utime(copy, ns=(0, made.overlay.stat().st_mtime_ns))
    copy.replace(made.overlay)
    assert snapshots.find(key) is None


def test_the_snapshots_used_last_are_kept_within_the_limit(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, limit=350_000)
    keys = [f"{number:032}" for number in range(5)]
    for key in keys:
        with snapshots.making(key) as work:
            (work / "overlay.qcow2").write_bytes(bytes(100_000))
            snapshots.publish(key, work, {key: moment("one")})
        assert snapshots.find(keys[0]), "the first one is in use"
    assert [key for key in keys if snapshots.find(key)] == [keys[0], *keys[3:]]


def test_modules_are_loaded_after_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "modules.dep").write_text("b/virtio_net.ko: b/failover.ko a/virtio.ko\nb/failover.ko:\na/virtio.ko:\n")
    order = initramfs.load_order(tmp_path, ("virtio-net", "ext4", "failover"))
    assert [path.name for path in order] == ["virtio.ko", "failover.ko", "virtio_net.ko"]
    with pytest.raises(ImageError):
        initramfs.load_order(tmp_path / "absent")


def test_first_programs_are_an_archive_that_the_kernel_reads(tmp_path: Path) -> None:
    for name in ("busybox", "one.ko"):
        (tmp_path / name).write_bytes(name.encode())
    packed = initramfs.make([tmp_path / "one.ko"], tmp_path / "busybox")
    assert packed == initramfs.make([tmp_path / "one.ko"], tmp_path / "busybox")
    plain = gzip.decompress(packed)
    assert plain.startswith(b"070701")
    assert len(plain) % 4 == 0
    assert b"modules/one.ko\0" in plain
    assert b"insmod /modules/$module" in plain
    assert b"TRAILER!!!\0" in plain

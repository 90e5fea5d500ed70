"""What every provider must do: one suite, run against each.

A case takes a `Bench` and raises `AssertionError` when the provider breaks the promise in the case's name. `EXCEPTIONS`
names what a provider does differently, with the reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from desktop_env.errors import FileRefused, GuestError, InfraError
from desktop_env.protocols import Guest, Machine, Provider
from desktop_env.values import MachineSettings, Tree
from desktop_env.waiting import wait_until

Case = Callable[["Bench"], None]
CASES: dict[str, Case] = {}

EXCEPTIONS: dict[str, dict[str, str]] = {
    "container": {},
    "qemu": {},
    "libvirt": {},
    "ssh": {
        "machines_do_not_see_each_other": "there is one machine at one address",
        "a_fork_bomb_stays_inside": "the limits of a machine that we do not run are its owner's",
        "a_full_disk_stays_inside": "the limits of a machine that we do not run are its owner's",
    },
}
"""Provider to case to the reason why it does not hold there."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A provider under test, a machine that cases share, and the settings it was started with."""

    provider: Provider
    machine: Machine
    settings: MachineSettings

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Machine]:
        """Start a further machine and stop it at the end."""
        machine = self.provider.start(self.settings)
        try:
            yield machine
        finally:
            machine.stop()


def case(function: Case) -> Case:
    """Add a case to the suite under its function's name."""
    CASES[function.__name__] = function
    return function


def _raises(kind: type[Exception], call: Callable[[], object]) -> Exception:
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"nothing raised, {kind.__name__} expected")


# commands


@case
def commands_run_as_user_in_the_session(bench: Bench) -> None:
    result = bench.machine.guest.run('echo "$(id -un) $DISPLAY $PWD"; echo err >&2; exit 3')
    assert (result.stdout, result.stderr, result.exit_code) == ("user :0 /home/user\n", "err\n", 3), result


@case
def commands_run_as_root_when_asked(bench: Bench) -> None:
    assert bench.machine.guest.run("id -u", user="root").stdout == "0\n"


@case
def user_has_no_sudo_unless_granted(bench: Bench) -> None:
    assert not bench.machine.guest.run("echo password | sudo -S true").ok


@case
def argument_lists_are_quoted(bench: Bench) -> None:
    odd = "a b'c\"$HOME;\n*"
    assert bench.machine.guest.run(["printf", "%s", odd]).stdout == odd


@case
def stdin_reaches_the_command(bench: Bench) -> None:
    data = os.urandom(300_000)
    assert bench.machine.guest.run("sha256sum", stdin=data).stdout.startswith(hashlib.sha256(data).hexdigest())


@case
def a_command_past_its_deadline_is_a_result(bench: Bench) -> None:
    result = bench.machine.guest.run("echo begun; exec sleep 60", timeout=0.5)
    assert result.timed_out
    assert result.stdout == "begun\n"
    assert not result.ok


@case
def a_child_in_the_background_does_not_hold_the_call(bench: Bench) -> None:
    assert bench.machine.guest.run("sleep 60 & echo done", timeout=20).stdout == "done\n"


@case
def endless_output_is_cut(bench: Bench) -> None:
    result = bench.machine.guest.run("head -c 20000000 /dev/zero | tr '\\0' x", max_output=1000)
    assert result.truncated
    assert len(result.stdout) == 1000


CALCULATE = """
import math
import numpy as np
import pandas as pd

random = np.random.default_rng(0)
for size in (2, 17, 64, 257, 1000):
    for kind in ("f8", "f4", "i8", "i4", "u4"):
        x = (1000 * random.normal(size=size)).astype(kind)
        right = sorted(x.tolist())
        found = {
            "sort": np.sort(x).tolist() == right,
            "argsort": x[np.argsort(x)].tolist() == right,
            "argpartition": x[np.argpartition(x, size // 2)[size // 2]] == right[size // 2],
            "argmax": x[x.argmax()] == right[-1],
            "mask": x[x > 0].tolist() == [value for value in x.tolist() if value > 0],
            "sum": math.isclose(x.sum(dtype="f8"), math.fsum(right), abs_tol=1e-6 * size),
            "exp": np.allclose(np.exp(x % 7.0), [math.exp(value % 7.0) for value in x.tolist()], rtol=1e-5),
            "sort_values": pd.Series(x).sort_values().tolist() == right,
        }
        print(*(f"{name} of {size} {kind}" for name, fine in found.items() if not fine), sep="\\n", end="")
m = random.normal(size=(40, 40))
if not np.allclose(m @ np.linalg.solve(m, m[0]), m[0]):
    print("solve")
"""


@case
def calculations_are_right(bench: Bench) -> None:
    """An emulated processor may calculate wrongly, and whoever sorted by it would be scored for that."""
    result = bench.machine.guest.run(["python", "-c", CALCULATE], timeout=180)
    assert (result.stdout, result.exit_code) == ("", 0), result


# files


@case
def files_of_every_size_arrive(bench: Bench) -> None:
    for size in (0, 1, 70_000, 64 << 20):
        data = os.urandom(min(size, 1 << 20)) * max(1, size >> 20)
        bench.machine.guest.write("/home/user/sizes/file.bin", data)
        assert bench.machine.guest.read("/home/user/sizes/file.bin", max_bytes=65 << 20) == data
        assert bench.machine.guest.digest("/home/user/sizes/file.bin") == hashlib.sha256(data).hexdigest()


@case
def odd_names_are_just_names(bench: Bench) -> None:
    for name in ("with space", "-n", "quote'\"", "日本 é", "new\nline", "$(touch x)", "*"):
        path = f"/home/user/odd/{name}"
        bench.machine.guest.write(path, name.encode())
        assert bench.machine.guest.read(path) == name.encode()
        assert bench.machine.guest.stat(path).kind == "file"
    assert len(bench.machine.guest.list_dir("/home/user/odd")) == 7


@case
def what_is_no_readable_file_is_refused(bench: Bench) -> None:
    guest = bench.machine.guest
    guest.run("mkdir -p ~/r && cd ~/r && mkfifo pipe && truncate -s 10G sparse && echo x > private && ln -s pipe link")
    guest.run("echo secret > /home/user/r/roots && chmod 600 /home/user/r/roots", user="root")
    _raises(FileNotFoundError, lambda: guest.read("/home/user/r/absent"))
    _raises(IsADirectoryError, lambda: guest.read("/home/user/r"))
    _raises(PermissionError, lambda: guest.read("/home/user/r/roots"))
    for name in ("pipe", "link", "sparse"):
        _raises(FileRefused, lambda name=name: guest.read(f"/home/user/r/{name}"))  # type: ignore[misc]
    assert guest.stat("/home/user/r/pipe").kind == "fifo"
    assert guest.stat("/home/user/r/link").kind == "link"
    assert guest.stat("/home/user/r/absent").kind == "missing"


@case
def files_written_belong_to_user(bench: Bench) -> None:
    bench.machine.guest.write("/home/user/mine/x", b"1", mode=0o640)
    result = bench.machine.guest.run("stat -c '%U %a' ~/mine ~/mine/x")
    assert result.stdout == "user 755\nuser 640\n", result


# the desktop


@case
def the_screen_has_the_size_asked_for(bench: Bench) -> None:
    size = bench.settings.screen_size
    frame = bench.machine.screen.frame()
    assert frame.pixels.shape == (size.height, size.width, 3)
    assert len(np.unique(frame.pixels.reshape(-1, 3), axis=0)) > 50, "the screen looks empty"


@case
def typing_reaches_a_program(bench: Bench) -> None:
    guest, screen = bench.machine.guest, bench.machine.screen
    guest.launch("xfce4-terminal --title=conformance --hide-menubar -x sh -c 'read line; echo \"$line\" > ~/typed'")
    wait_until(lambda: any(w.active and w.title == "conformance" for w in guest.windows()), 30, "terminal window")
    for letter in "hello":
        screen.key(ord(letter), True)
        screen.key(ord(letter), False)
    screen.key(0xFF0D, True)
    screen.key(0xFF0D, False)
    wait_until(lambda: guest.stat("/home/user/typed").size, 15, "line typed")
    assert guest.read("/home/user/typed") == b"hello\n"


@case
def the_tree_shows_the_desktop(bench: Bench) -> None:
    def whole() -> Tree | None:  # a program that is busy may answer too late
        tree = bench.machine.guest.tree()
        return None if tree.cut else tree

    tree = wait_until(whole, 60, "a tree in which every program has answered")
    assert "xfce4-panel" in tree.xml
    assert tree.nodes > 10


@case
def the_clipboard_carries_unicode(bench: Bench) -> None:
    text = "é 漢 👩‍🔬 \n\ttab" + "x" * 900_000
    bench.machine.guest.clipboard_set(text)
    assert bench.machine.guest.clipboard_get() == text


@case
def nothing_outside_is_reachable(bench: Bench) -> None:
    result = bench.machine.guest.run("ip route; curl -sS --max-time 2 http://192.0.2.1/")
    assert result.exit_code != 0
    assert "default" not in result.stdout


# machines


PLANT_AS_USER = """
for folder in ~ /tmp /var/tmp /dev/shm /run/user/1000 /run/host-link; do echo s > $folder/sentinel || exit 1; done
xfconf-query -c xfwm4 -p /general/theme -s Sentinel -n -t string || exit 2
echo '{"sentinel": 1}' > ~/.config/Code/User/settings.json || exit 3
exec -a sentinel-process setsid -f sleep 7777
"""
PLANT_AS_ROOT = """
echo sentinel >> /etc/hosts && echo sentinel > /etc/sentinel
useradd sentinel; pkill -x Xvnc; pkill -x dbus-daemon; chmod 0 /usr/sbin/sshd
"""
LOOK = """
find / /tmp /dev/shm /run -xdev -name sentinel -not -path '/opt/*' 2>/dev/null
grep -l -i sentinel /etc/hosts /etc/passwd ~/.config/Code/User/settings.json; pgrep -f 'sleep 777[7]'
xfconf-query -c xfwm4 -p /general/theme | grep Sentinel
for name in Xvnc dbus-daemon xfwm4 xfce4-panel; do pgrep -x $name > /dev/null || echo no $name; done
test -x /usr/sbin/sshd || echo no sshd
"""


@case
def a_reset_leaves_nothing(bench: Bench) -> None:
    with bench.fresh() as machine:
        machine.guest.clipboard_set("sentinel")
        planted = machine.guest.run(PLANT_AS_USER)
        assert planted.ok, planted
        assert "sentinel" in machine.guest.run(LOOK).stdout
        with contextlib.suppress(InfraError):  # it ends what carries this very call
            machine.guest.run(PLANT_AS_ROOT, user="root", timeout=10)
    with bench.fresh() as machine:
        found = machine.guest.run(LOOK)
        assert found.stdout == "", found
        assert machine.guest.clipboard_get() == ""


@case
def machines_do_not_see_each_other(bench: Bench) -> None:
    with bench.fresh() as other:
        assert other.id != bench.machine.id
        other.guest.write("/home/user/private", b"1")
        assert bench.machine.guest.stat("/home/user/private").kind == "missing"


def _is_fine(guest: Guest) -> bool:
    try:
        return guest.run("echo fine").stdout == "fine\n"
    except GuestError:
        return False


@case
def a_fork_bomb_stays_inside(bench: Bench) -> None:
    with bench.fresh() as machine:
        machine.guest.launch("for i in $(seq 5000); do sleep 600 & done")
        count = "test $(pgrep -c sleep) -gt 1000"
        wait_until(lambda: machine.guest.run(count, user="root").ok, 180, "fork bomb")
        assert machine.usage().get("pids", 0) <= bench.settings.limits.pids
        machine.screen.fence(30)
        machine.guest.run("pkill -9 -f 'seq 500[0]'; pkill -9 sleep", user="root", timeout=60)
        wait_until(lambda: _is_fine(machine.guest), 60, "end of thousands of processes")


@case
def a_full_disk_stays_inside(bench: Bench) -> None:
    with bench.fresh() as machine:
        result = machine.guest.run("head -c 20G /dev/zero > ~/big", timeout=60)
        assert not result.ok
        assert machine.guest.run("rm ~/big; echo fine").stdout == "fine\n"


@case
def stop_can_be_called_twice_and_ends_all_calls(bench: Bench) -> None:
    machine = bench.provider.start(bench.settings)
    machine.guest.run("true")
    machine.stop()
    machine.stop()
    _raises(InfraError, lambda: machine.guest.run("true"))
    _raises(InfraError, machine.screen.frame)


@case
def a_guest_that_dies_is_an_infra_error(bench: Bench) -> None:
    with bench.fresh() as machine:
        with contextlib.suppress(GuestError):
            machine.guest.run("kill -9 -1", user="root", timeout=5)
        wait_until(lambda: _is_dead(machine), 30, "sign of the guest's death")


def _is_dead(machine: Machine) -> bool:
    try:
        machine.screen.frame()
    except InfraError:
        return True
    return False

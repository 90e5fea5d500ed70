"""Real guests for the tests that need them; such tests skip, with the reason, where none can run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_env import registry
from desktop_env.errors import HostError, ImageError
from desktop_env.protocols import Machine, Provider
from desktop_env.providers.container import ContainerProvider, host_problems
from desktop_env.providers.qemu import QemuProvider
from desktop_env.providers.vm_host import host_problems as vm_problems
from desktop_env.runs import Run, RunSettings
from desktop_env.task import load
from desktop_env.values import MachineSettings
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

SETTINGS = MachineSettings("debian-12")


@pytest.fixture(scope="session")
def container() -> Provider:
    """The container provider, where this host can run it and the image is built."""
    if problems := host_problems():
        pytest.skip("; ".join(problems))
    try:
        Store.default().get(SETTINGS.image)
    except ImageError as error:
        pytest.skip(str(error))
    return ContainerProvider()


PREPARE = """
import sys
from desktop_env import registry
from desktop_env.values import MachineSettings
snapshot = registry.resolve("provider", sys.argv[1])().prepare(MachineSettings(sys.argv[2]))
print(snapshot.overlay.stat().st_ino)
"""


@pytest.fixture(scope="session")
def virtual_machines() -> Iterator[Callable[[str], QemuProvider]]:
    """Gives the provider of a name, with the snapshot of a ready desktop: made once and kept for further sessions.

    Two processes ask for it at the same moment, and one of them makes it.
    """
    made: dict[str, QemuProvider] = {}

    def provider(name: str) -> QemuProvider:
        if name in made:
            return made[name]
        if problems := vm_problems():
            pytest.skip("; ".join(problems))
        try:
            store = Store.default()
            disks.get_disk(store, store.get(SETTINGS.image))
        except ImageError as error:
            pytest.skip(str(error))
        command = [sys.executable, "-c", PREPARE, name, SETTINGS.image]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        outputs = [run.communicate(timeout=900)[0] for run in runs]
        provider: QemuProvider = registry.resolve("provider", name)()
        assert outputs == [f"{provider.prepare(SETTINGS).overlay.stat().st_ino}\n"] * 2
        made[name] = provider
        return provider

    yield provider
    for each in made.values():
        each.close()


class LibvirtDaemon:
    """A libvirtd of our own, for root where no service manager has started one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        settings = {"unix_sock_dir": folder, "auth_unix_ro": "none", "auth_unix_rw": "none"}
        lines = [f'{name} = "{value}"\n' for name, value in settings.items()]
        (folder / "libvirtd.conf").write_text("".join(lines))
        # What QEMU can is found out anew at each start where the device /dev/kvm works for us and not for this user.
        (folder / "qemu.conf").write_text('user = "root"\ngroup = "root"\n')
        self.uri = f"qemu:///system?socket={folder}/libvirt-sock"
        self._logs = self._spawn("virtlogd", "-p", str(folder / "virtlogd.pid"))
        self.start()

    def _spawn(self, *command: str) -> subprocess.Popen[bytes]:
        null = subprocess.DEVNULL
        return subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)

    def start(self) -> None:
        config = f"-f {self._folder}/libvirtd.conf -p {self._folder}/libvirtd.pid"
        private = f"mount --bind {self._folder}/qemu.conf /etc/libvirt/qemu.conf && exec libvirtd {config}"
        self._daemon = self._spawn("unshare", "--mount", "sh", "-c", private)
        wait_until(self._answers, 60, "libvirtd", error=HostError)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self._folder / "libvirt-sock")) == 0

    def kill(self) -> None:
        self._daemon.kill()
        self._daemon.wait(30)

    def close(self) -> None:
        for process in (self._daemon, self._logs):  # killed: libvirtd may wait for ever for what it has begun
            process.kill()
            process.wait(30)


@pytest.fixture(scope="session")
def libvirt_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibvirtDaemon | None]:
    """Lets the provider libvirt find one that answers: None for the host's, which is not ours to end."""
    problems = registry.resolve("provider", "desktop_env.providers.libvirt_vm:libvirt_problems")
    if not problems():
        yield None
        return
    if os.geteuid() != 0 or not shutil.which("libvirtd"):
        pytest.skip("; ".join(problems()))
    daemon = LibvirtDaemon(tmp_path_factory.mktemp("libvirt"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIBVIRT_DEFAULT_URI", daemon.uri)
        yield daemon
    daemon.close()


@pytest.fixture(scope="module")
def machine(container: Provider) -> Iterator[Machine]:
    """One desktop for all tests of a module, which must not depend on its being fresh."""
    machine = container.start(SETTINGS)
    yield machine
    machine.stop()


@pytest.fixture
def fresh_machine(container: Provider) -> Iterator[Machine]:
    """A desktop for one test alone."""
    machine = container.start(SETTINGS)
    yield machine
    machine.stop()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Say which tests share a worker: those that need all cores for minutes, and those of a file on one machine.

    The plugin reads it from the names, which pytest 9.2 no longer lets it change.
    """
    if item.get_closest_marker("vm"):
        item.add_marker(pytest.mark.xdist_group("all cores"))
    elif "machine" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.xdist_group(item.path.name))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: virtual machines, then containers."""
    items.sort(key=lambda item: (item.get_closest_marker("vm") is None, item.get_closest_marker("guest") is None))


TINY_TASK = """
instruction = "Write the word done into /home/user/answer.txt, please."
stage = "single"
difficulty = "easy"
programs = ["terminal"]
splits = ["tiny"]
"""
TINY_EVALUATOR = """
from desktop_env.values import Finding, Verdict

def evaluate(guest, task):
    return Verdict(1.0, (Finding("all", 1.0, "ok", "whatever was done is right"),))
"""


@pytest.fixture
def tiny_tasks(tmp_path: Path) -> Path:
    """A folder of six tasks of the split ``tiny`` that need no setup and take every work for right."""
    for number in range(6):
        task = tmp_path / "tasks" / "eda" / f"t{number}"
        task.mkdir(parents=True)
        (task / "task.toml").write_text(TINY_TASK)
        (task / "evaluate.py").write_text(TINY_EVALUATOR)
    return tmp_path / "tasks"


MAIN = """
import signal
from desktop_env.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # what was started in the background ignores it
main()
"""


@pytest.fixture
def deskgym(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts the command line in ``tmp_path``, whose modules it can import, with the environment added to."""

    def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])} | environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


MADE_TASK = """
instruction = "Write the word done into /home/user/answer.txt, please."
stage = "single"
difficulty = "{difficulty}"
programs = ["terminal"]
sources = ["words: somewhere 1.0, CC0-1.0"]

[limits]
steps = 8
"""
MADE_EVALUATE = """
from desktop_env.values import Finding, Verdict

def evaluate(guest, task):
    score = {score}
    code, message = ("ok", "it is there") if score == 1 else ("file_missing", "expected a file /home/user/answer.txt")
    return Verdict(score, (Finding("answer", score, code, message),))
"""


@pytest.fixture(scope="session")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of the random agent over three made tasks on the fake provider: it passes one and fails two."""
    root = tmp_path_factory.mktemp("made")
    tasks = []
    for name, difficulty, score in (("passes", "easy", 1.0), ("fails", "hard", 0.0), ("nearly", "hard", 0.5)):
        folder = root / "tasks" / "eda" / name
        folder.mkdir(parents=True)
        (folder / "task.toml").write_text(MADE_TASK.format(difficulty=difficulty))
        (folder / "evaluate.py").write_text(MADE_EVALUATE.format(score=score))
        tasks.append(load(folder))
    run = Run(root / "results", "made", RunSettings("random", {}, provider="fake", seed=0))
    run.describe({"name": "fake"}, tasks)
    for task in tasks:
        run.episode(task)
    return run.folder

"""A batch on a real local cluster of two Ray nodes: one is killed in the middle, and its episodes are done again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop_env.batch.journal import EpisodeRow, JournalReader, TryRow
from desktop_env.env import DEFAULT_IMAGE
from desktop_env.protocols import Provider
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

pytest.importorskip("ray")
PATIENCE = 180.0
IMAGE_PATIENCE = 900.0
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""Ray's way to say that a cluster is on one machine and listens on its loopback alone."""
Start = Callable[..., subprocess.Popen[str]]

AGENTS = '''
import time
from pathlib import Path

class Waiting:
    """Says with a file of its own in ``here`` on which node it is, and waits there for ``gate``."""

    def __init__(self, here, gate):
        self.here, self.gate = Path(here), Path(gate)

    def reset(self, instruction, *, seed=None):
        import os, ray
        (self.here / f"{os.getpid()}-{time.monotonic_ns()}").write_text(ray.get_runtime_context().get_node_id())

    def act(self, observation):
        while not self.gate.exists():
            time.sleep(0.05)
        return "DONE"
'''

CLUSTER = """
import json, sys
from ray.cluster_utils import Cluster
offer = {"resources": {"desktop": int(sys.argv[1])}}
cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **offer})
nodes = [cluster.head_node, cluster.add_node(env_vars=json.loads(sys.argv[2]), **offer)]
print(cluster.address, *(node.node_id for node in nodes), flush=True)
for line in sys.stdin:
    cluster.remove_node(nodes[1], allow_graceful=False)
    print("killed", flush=True)
cluster.shutdown()
"""


class TwoNodes:
    """A cluster in a process of its own; the runner belongs to the first node, and the second can be killed.

    ``second`` has what is different in the environment of the second node.
    """

    def __init__(self, folder: Path, desktops: int, second: dict[str, str]) -> None:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            **LOOPBACK,
        }
        self._log = (folder / "cluster.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-c", CLUSTER, str(desktops), json.dumps(second)],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self.address, *self.ids = self._answer().split()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill_second(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("kill\n")
        self._process.stdin.flush()
        assert self._answer() == "killed\n"

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE)
        self._log.close()


@contextmanager
def cluster_of_two(folder: Path, desktops: int, **second: str) -> Iterator[TwoNodes]:
    (folder / "waiting_agents.py").write_text(AGENTS)
    nodes = TwoNodes(folder, desktops, second)
    try:
        yield nodes
    finally:
        nodes.close()


def journal(folder: Path) -> tuple[list[EpisodeRow], list[TryRow]]:
    (run,) = (folder / "results").iterdir()
    with JournalReader(run) as reader:
        return reader.episodes(), reader.tries()


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    content: dict[str, Any] = json.loads(out)
    return content


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "each", "end"),
    [("fake", 2, signal.SIGKILL), pytest.param("container", 1, signal.SIGINT, marks=pytest.mark.guest)],
)
def test_a_lost_node_only_costs_its_episodes(
    provider: str,
    each: int,
    end: signal.Signals,
    tmp_path: Path,
    tiny_tasks: Path,
    deskgym: Start,
    request: pytest.FixtureRequest,
) -> None:
    if provider == "container":
        request.getfixturevalue("container")
    here, gate = tmp_path / "here", tmp_path / "gate"
    here.mkdir()
    agent = ["--agent", "waiting_agents:Waiting", "--agent-arg", f"here={here}", "--agent-arg", f"gate={gate}"]
    where = ["--engine", "ray", "--provider", provider, "--tasks", str(tiny_tasks), "--limit", str(3 * each)]
    with cluster_of_two(tmp_path, each) as cluster:
        environment = {"RAY_ADDRESS": cluster.address, **LOOPBACK}
        first = deskgym("eval", "tiny", *agent, *where, "--json", **environment)
        wait_until(lambda: len(list(here.iterdir())) == 2 * each, PATIENCE, "all desktops in use")
        assert sorted(path.read_text() for path in here.iterdir()) == sorted(cluster.ids * each)

        first.send_signal(end)  # a batch that was stopped leaves nothing on the nodes, and goes on
        first.communicate(timeout=PATIENCE)
        assert first.returncode == (130 if end is signal.SIGINT else -end)
        if end is signal.SIGINT:
            assert {row.status for row in journal(tmp_path)[0]} == {"pending"}
        (run,) = (tmp_path / "results").iterdir()
        second = deskgym("eval", "--resume", str(run), "--json", **environment)
        wait_until(lambda: len(list(here.iterdir())) == 4 * each, PATIENCE, "all desktops in use again")
        cluster.kill_second()
        wait_until(lambda: any(row.status == "infra_error" for row in journal(tmp_path)[1]), PATIENCE, "lost episodes")
        gate.touch()

        assert finish(second)["statuses"] == {"scored": 3 * each}
    rows, tries = journal(tmp_path)
    assert all(cluster.ids[0].startswith(str(row.worker).split()[-1]) for row in rows)
    assert sorted(row.status for row in tries) == sorted(
        ["infra_error"] * each + ["interrupted"] * 2 * each + ["scored"] * 3 * each
    )
    assert all((run / row.task / "1" / "episode.json").is_file() for row in rows)


@pytest.mark.slow
@pytest.mark.guest
def test_a_node_without_the_image_gets_it_from_the_runner(
    container: Provider, tmp_path: Path, tiny_tasks: Path, deskgym: Start
) -> None:
    here, gate = tmp_path / "here", tmp_path / "gate"
    here.mkdir()
    agent = ["--agent", "waiting_agents:Waiting", "--agent-arg", f"here={here}", "--agent-arg", f"gate={gate}"]
    where = ["--engine", "ray", "--provider", "container", "--tasks", str(tiny_tasks), "--limit", "2"]
    with cluster_of_two(tmp_path, 1, DESKGYM_HOME=str(tmp_path / "home")) as cluster:
        batch = deskgym("eval", "tiny", *agent, *where, "--json", RAY_ADDRESS=cluster.address, **LOOPBACK)
        wait_until(lambda: len(list(here.iterdir())) == 2, IMAGE_PATIENCE, "a desktop on each node")
        assert sorted(path.read_text() for path in here.iterdir()) == sorted(cluster.ids)
        gate.touch()
        assert finish(batch)["statuses"] == {"scored": 2}
    (own,) = (store := Store(tmp_path / "home")).list()
    assert own.digest == Store.default().get(DEFAULT_IMAGE).digest
    assert store.remove(own.name)

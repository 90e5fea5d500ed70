"""The engine for many machines: episodes are tasks of a Ray cluster, and desktops are what its nodes offer.

A node says how many desktops it carries: ``ray start … --resources='{"desktop": 4}'``. It needs deskgym and the agent's
module; tasks come with the job, and the guest image from the runner's machine when the node has not got it. What an
episode leaves comes back in one piece, so that the run's folder and journal are as with the local engine.
"""

from __future__ import annotations

import os
import platform
import time
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from desktop_env.batch.engine import Ended, Event, Job, Order, lost
from desktop_env.batch.images import IMAGE_SECONDS, ImageFile
from desktop_env.batch.node import Parcel, Returned, parcel, play_parcel, unpack
from desktop_env.errors import InfraError, UsageError
from desktop_env.paths import cache_dir, data_dir
from desktop_env.waiting import pause

RESOURCE = "desktop"
FETCH_SECONDS = 300.0
"""How long the folder of an episode may take to come."""
STOP_SECONDS = 20.0
GONE_SECONDS = 300.0
"""How long a batch waits for nodes when none offers a desktop any more."""


class _RemoteImage:
    """The runner's image, as a node sees it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def size(self) -> int:
        return int(ray.get(self._actor.size.remote(), timeout=IMAGE_SECONDS))

    def read(self, offset: int, size: int) -> bytes:
        part: bytes = ray.get(self._actor.read.remote(offset, size), timeout=FETCH_SECONDS)
        return part


def _play(sent: Parcel, image: Any) -> Returned:
    """Run on a node, in a worker process of Ray's."""
    node = ray.get_runtime_context().get_node_id()
    return play_parcel(sent, _RemoteImage(image) if image is not None else None, f"{platform.node()} {node[:8]}")


class RayEngine:
    """Plays episodes on the nodes of a Ray cluster; a node that is lost only costs the episodes on it.

    Raises:
        UsageError: There is no cluster at ``RAY_ADDRESS`` or on this machine, or none of its nodes offers a desktop.
    """

    def __init__(self, order: Order) -> None:
        _connect()
        self._image = order.image
        self._flying: dict[Any, tuple[Job, float]] = {}
        self._since = time.monotonic()
        offered = self._offered()
        if not offered:
            ray.shutdown()
            raise UsageError(f"no node offers a desktop (remedy: ray start … --resources='{{\"{RESOURCE}\": 4}}')")
        self._wanted = order.jobs
        self.jobs = min(order.jobs or offered, offered)
        self.remarks = []
        if self.jobs < (order.jobs or 0):
            self.remarks = [f"{self.jobs} desktops at once instead of {order.jobs}: the cluster offers {offered}"]
        self._source = _serve_image(order.image) if order.image else None
        self._play = ray.remote(num_cpus=0, resources={RESOURCE: 1}, max_retries=0)(_play)

    def _offered(self) -> int:
        return int(ray.cluster_resources().get(RESOURCE, 0))

    def takes(self, job: Job) -> bool:
        """Say whether a node that is there now has a desktop free."""
        offered = self._offered()
        if offered:
            self._since = time.monotonic()
        return len(self._flying) < min(self._wanted or offered, offered)

    def submit(self, job: Job) -> str:
        """Send the job to the cluster, which chooses the node."""
        reference = self._play.remote(parcel(job, self._image), self._source)
        self._flying[reference] = (job, time.monotonic())
        return "cluster"

    def poll(self, timeout: float) -> list[Event]:
        """Give what has happened; see `Engine.poll`.

        Raises `InfraError` when no node has offered a desktop for `GONE_SECONDS`.
        """
        if not self._flying:
            if time.monotonic() - self._since > GONE_SECONDS:
                raise InfraError("no node of the cluster offers a desktop any more")
            pause(timeout)
            return []
        ready, _ = ray.wait(list(self._flying), num_returns=1, timeout=timeout)
        return [self._collect(reference) for reference in ready] + self._overdue()

    def _collect(self, reference: Any) -> Event:
        job, started = self._flying.pop(reference)
        try:
            returned: Returned = ray.get(reference, timeout=FETCH_SECONDS)
        except RayError as error:
            return lost(job, _in_one_line(error), time.monotonic() - started, "cluster")
        if isinstance(returned.event, Ended):
            unpack(returned.files, job.folder)
        return returned.event

    def _overdue(self) -> list[Event]:
        events: list[Event] = []
        for reference, (job, started) in list(self._flying.items()):
            allowed = job.deadline + (IMAGE_SECONDS if self._image else 0.0)
            if time.monotonic() - started > allowed:
                del self._flying[reference]
                ray.cancel(reference, force=True)
                why = f"the worker hung: no end of the episode within {allowed:.0f} s"
                events.append(lost(job, why, time.monotonic() - started, "cluster"))
        return events

    def close(self) -> None:
        """Break off what is in flight: machines are stopped, or end with their workers."""
        if not ray.is_initialized():
            return
        flying, self._flying = list(self._flying), {}
        for reference in flying:
            ray.cancel(reference)
        if flying:
            _, hanging = ray.wait(flying, num_returns=len(flying), timeout=STOP_SECONDS)
            for reference in hanging:
                ray.cancel(reference, force=True)
        ray.shutdown()


def make(order: Order) -> RayEngine:
    """Make the engine for a run."""
    return RayEngine(order)


def _connect() -> None:
    address = os.environ.get("RAY_ADDRESS", "auto")
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RayError, ValueError) as error:
        remedy = "ray start --head --resources='{\"desktop\": 4}', or RAY_ADDRESS"
        raise UsageError(f"no Ray cluster at {address!r}: {_in_one_line(error)} (remedy: {remedy})") from error


def _serve_image(digest: str) -> Any:
    """Start what gives the image to nodes, on this machine."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(num_cpus=0, scheduling_strategy=here)(ImageFile)
    return actor.remote(data_dir(), cache_dir() / "exports", digest)


def _in_one_line(error: BaseException, limit: int = 300) -> str:
    """Give the first sentence of the last line, which is what Ray's messages mean."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].partition('. ')[0] if lines else ''}"[:limit]

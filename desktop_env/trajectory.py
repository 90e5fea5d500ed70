"""What an episode leaves on disk.

<task>/<attempt>/
  episode.json          status, score, verdict, steps, timings, digests
  traj.jsonl            one line a step: OSWorld's keys (step_num, action_timestamp, action, reward, done, info,
                        screenshot_file), and actions, accessibility_file, usage, response (what the model said)
  guest.jsonl           every call that reached the guest, with its phase (setup, episode, evaluation)
  frames/step_N.png     the screen after step N; 0 is the first observation
  accessibility/step_N.xml.gz
  artifacts/            what the evaluator read
  recording.mp4         a video of the screen, where it was asked for
"""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from desktop_env.values import Frame, GuestCall, Pixels, Tree, Verdict

PENDING = 8
"""Frames that may wait for the disk before the episode waits for them."""


class Recorder:
    """Writes one episode into ``folder``, which must not hold one yet.

    Pictures and trees are compressed on a thread of its own, so that a step does not wait for them. Call `close` at the
    end; what went wrong in writing is raised there or in the next call.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "frames").mkdir(parents=True)
        (folder / "accessibility").mkdir()
        self.folder = folder
        self._lines = (folder / "traj.jsonl").open("w", encoding="utf-8")
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="deskgym-recorder")
        self._pending: list[Future[None]] = []

    def observation(self, step: int, frame: Frame, tree: Tree | None) -> None:
        """Keep the screen and the tree as they were after ``step``."""
        self._later(lambda: _save_png(self.folder / "frames" / f"step_{step}.png", frame.pixels))
        if tree is not None:
            path = self.folder / "accessibility" / f"step_{step}.xml.gz"
            self._later(lambda: _save_gzip(path, tree.xml))

    def step(
        self,
        number: int,
        action: Any,
        reward: float,
        done: bool,
        info: Mapping[str, Any],
        *,
        usage: Mapping[str, float] | None = None,
        response: str | None = None,
    ) -> None:
        """Write the line of one step; ``usage`` is what the agent has used since the episode's start.

        ``response`` is the model's text behind the action, if the agent gives it.
        """
        line = {
            "step_num": number,
            "action_timestamp": datetime.now(UTC).strftime("%Y%m%d@%H%M%S%f"),
            "action": action,
            "reward": reward,
            "done": done,
            "info": {key: value for key, value in info.items() if key != "actions"},
            "actions": info.get("actions", ()),
            "screenshot_file": f"frames/step_{number}.png",
            "accessibility_file": f"accessibility/step_{number}.xml.gz",
            "usage": dict(usage or {}),
            **({} if response is None else {"response": response}),
        }
        self._lines.write(to_json(line) + "\n")
        self._lines.flush()

    def guest_calls(self, calls: Iterable[tuple[str, GuestCall]]) -> None:
        """Write all calls that reached the guest."""
        with (self.folder / "guest.jsonl").open("w", encoding="utf-8") as file:
            for phase, call in calls:
                file.write(to_json({"phase": phase, **dataclasses.asdict(call)}) + "\n")

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write ``episode.json``; an episode without it did not come to its end."""
        (self.folder / "episode.json").write_text(to_json(summary, indent=2) + "\n")

    def _later(self, work: Any) -> None:
        while len(self._pending) >= PENDING:
            self._pending.pop(0).result(timeout=60)
        self._pending.append(self._pool.submit(work))

    def close(self) -> None:
        """Wait until everything is written; a second call does nothing."""
        self._lines.close()
        pending, self._pending = self._pending, []
        self._pool.shutdown(wait=True)
        for future in pending:
            future.result(timeout=60)


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Give ``value`` as JSON: dataclasses as objects with their ``type``, arrays as their shape, the rest by name."""
    return json.dumps(value, default=_plain, ensure_ascii=False, indent=indent)


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    """Give a verdict as it is written: ``score``, ``passed``, ``findings``."""
    findings = [dataclasses.asdict(finding) for finding in verdict.findings]
    return {"score": verdict.score, "passed": verdict.passed, "findings": findings}


def _plain(value: Any) -> Any:
    if isinstance(value, Verdict):
        return plain_verdict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _save_png(path: Path, pixels: Pixels) -> None:
    from PIL import Image

    Image.fromarray(pixels).save(path, compress_level=1)


def _save_gzip(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(errors="replace"), 1))


def read_steps(folder: Path) -> list[dict[str, Any]]:
    """Read ``traj.jsonl`` of an episode; a last line that was cut off by a crash is left out."""
    steps = []
    for line in (folder / "traj.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            steps.append(json.loads(line))
        except ValueError:
            break
    return steps

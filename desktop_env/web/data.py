"""What the viewer's pages ask for, as plain values; whatever a page names is looked up, never taken as a path."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from desktop_env import accessibility
from desktop_env.batch.journal import NAME as JOURNAL
from desktop_env.batch.journal import PENDING, RUNNING
from desktop_env.display.recording import NAME as RECORDING
from desktop_env.errors import GuestError, UsageError
from desktop_env.report import annotation
from desktop_env.report.annotation import Annotation
from desktop_env.report.failures import FailureFact
from desktop_env.report.records import Episode, RunRecord, find_runs, iter_steps, read_run
from desktop_env.report.summary import episode_entry, facts_of, rates
from desktop_env.runs import DESCRIPTION

MAX_TEXT = 20_000
"""Characters of one text of a step that a page gets."""
MAX_TREE = 64 << 20
"""Bytes of an accessibility tree."""
MAX_NODES = 5_000
KEPT_RUNS = 20
"""Runs that are kept in memory."""

Signature = tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class _Kept:
    """A run as it was read last, and the facts of its failed episodes, which do not change any more."""

    signature: Signature
    run: RunRecord
    facts: dict[str, tuple[FailureFact, ...]]


class Library:
    """The runs below a folder, for any number of threads. A run is read again only when its files have changed.

    Every method raises `UsageError` for a run, episode or step that is not there.
    """

    def __init__(self, results: Path) -> None:
        self._results = results.resolve()
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def runs(self) -> list[dict[str, Any]]:
        """List the runs, newest first; one that cannot be read says why."""
        found = []
        for folder in find_runs(self._results):
            try:
                found.append(_run_entry(self._load(folder.name).run))
            except UsageError as error:
                found.append({"run": folder.name, "error": str(error)})
        return found

    def run(self, name: str) -> dict[str, Any]:
        """Give a run: its figures, its settings and its episodes with facts and labels."""
        kept = self._load(name)
        labels: dict[str, list[dict[str, Any]]] = {}
        notes = annotation.read(kept.run.folder)
        for note in notes:
            labels.setdefault(note.episode, []).append(asdict(note))
        return {
            **_run_entry(kept.run),
            "settings": dict(kept.run.settings),
            "image": kept.run.description.get("image"),
            "annotations": annotation.summarize(notes),
            "episodes": [
                episode_entry(episode, self._facts(kept, episode)) | {"labels": labels.get(episode.key, [])}
                for episode in kept.run.episodes
            ],
        }

    def episode(self, name: str, task: str, attempt: int) -> dict[str, Any]:
        """Give one episode with its task, verdict, facts and annotations."""
        kept = self._load(name)
        episode = kept.run.episode(task, attempt)
        keys = [each.key for each in kept.run.episodes]
        position = keys.index(episode.key)
        return {
            **episode_entry(episode, self._facts(kept, episode)),
            "run": name,
            "agent": kept.run.agent,
            "instruction": episode.facts.get("instruction"),
            "programs": episode.facts.get("programs"),
            "budget": kept.run.step_budget(episode),
            "verdict": episode.verdict,
            "rescored": episode.rescored,
            "timings": dict(episode.row.timings),
            "running": episode.status in (PENDING, RUNNING),
            "recording": self._recording(episode) is not None,
            "annotations": [asdict(each) for each in annotation.read(kept.run.folder) if each.episode == episode.key],
            "labels": annotation.LABELS,
            "previous": keys[position - 1] if position else None,
            "next": keys[position + 1] if position + 1 < len(keys) else None,
        }

    def steps(self, name: str, task: str, attempt: int, start: int = 0) -> list[dict[str, Any]]:
        """Give the steps after the first ``start`` of an episode."""
        folder = self._episode(name, task, attempt).folder
        return [step_entry(line) for line in islice(iter_steps(folder), start, None)]

    def tree(self, name: str, task: str, attempt: int, step: int) -> list[dict[str, Any]]:
        """Give the visible nodes of the accessibility tree after a step; none where it cannot be read."""
        path = self._inside(name, task, attempt, f"accessibility/step_{step}.xml.gz")
        try:
            with gzip.open(path) as file:
                data = file.read(MAX_TREE + 1)
            nodes = accessibility.parse(data[:MAX_TREE].decode(errors="replace"))
        except (OSError, EOFError, GuestError):
            return []
        visible = [node for node in nodes if node.extents and node.extents[2] > 1 and node.extents[3] > 1]
        return [
            {"role": node.role, "name": node.name[:200], "text": node.text[:300], "box": node.extents}
            | {"states": sorted(node.states), "application": node.application}
            for node in visible[:MAX_NODES]
        ]

    def frame(self, name: str, task: str, attempt: int, step: int) -> Path:
        """Give the file with the screen after a step; 0 is the first observation."""
        return self._inside(name, task, attempt, f"frames/step_{step}.png")

    def recording(self, name: str, task: str, attempt: int) -> Path:
        """Give the file with the episode's recording."""
        path = self._recording(self._episode(name, task, attempt))
        if path is None:
            raise UsageError("the episode has no recording")
        return path

    def annotate(self, name: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what an annotator says of an episode of this run."""
        run = self._load(name).run
        episode = run.episode(str(content.get("task")), _number(content.get("attempt")))
        step = content.get("step")
        said = Annotation(
            episode.task,
            episode.attempt,
            str(content.get("annotator") or "").strip(),
            content.get("label"),
            None if step is None else _number(step),
            str(content.get("note") or ""),
        )
        if said.label is not None and not episode.failed:
            raise UsageError("only failed episodes are labelled: this one has passed, or has no score")
        return asdict(annotation.add(run.folder, said))

    def annotations(self, name: str) -> dict[str, Any]:
        """Give all that counts of what people said of a run, with shares and agreement."""
        found = annotation.read(self._load(name).run.folder)
        return {"run": name, **annotation.summarize(found), "all": [asdict(each) for each in found]}

    def version(self, name: str) -> str:
        """Give a text that changes whenever what `run` gives may have changed."""
        folder = self._folder(name)
        return str(hash((_signature(folder), _signature(folder, annotation.NAME))))

    def _load(self, name: str) -> _Kept:
        folder = self._folder(name)
        signature = _signature(folder)
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None and kept.signature == signature:
                return kept
        run = read_run(folder)
        fresh = _Kept(signature, run, {})
        with self._lock:
            old = self._kept.pop(name, None)
            if old is not None:
                fresh.facts.update(old.facts)
            self._kept[name] = fresh
            while len(self._kept) > KEPT_RUNS:
                self._kept.pop(next(iter(self._kept)))
        return fresh

    def _folder(self, name: str) -> Path:
        for folder in find_runs(self._results):
            if folder.name == name:
                return folder
        raise UsageError(f"there is no run {name[:100]!r}")

    def _facts(self, kept: _Kept, episode: Episode) -> tuple[FailureFact, ...]:
        if not episode.failed:
            return ()
        if episode.key not in kept.facts:
            kept.facts[episode.key] = facts_of(kept.run, episode)
        return kept.facts[episode.key]

    def _episode(self, name: str, task: str, attempt: int) -> Episode:
        return self._load(name).run.episode(task, attempt)

    def _inside(self, name: str, task: str, attempt: int, place: str) -> Path:
        """Give a file of an episode; a link that leads out of the run's folder is refused."""
        with self._lock:
            kept = self._kept.get(name)
        run = (kept or self._load(name)).run  # where an episode lies does not change
        path = run.episode(task, attempt).folder / place
        if not path.is_file() or not path.resolve().is_relative_to(run.folder.resolve()):
            raise UsageError(f"the episode has no {place}")
        return path

    def _recording(self, episode: Episode) -> Path | None:
        path = episode.folder / RECORDING
        return path if path.is_file() and not path.is_symlink() else None


def step_entry(line: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a page shows of a step: its texts are cut at `MAX_TEXT`."""
    info = line.get("info")
    info = info if isinstance(info, dict) else {}
    return {
        "step": line.get("step_num"),
        "time": line.get("action_timestamp"),
        "action": _cut(line.get("action")),
        "actions": _cut(line.get("actions")),
        "response": _cut(line.get("response")),
        "reward": line.get("reward"),
        "done": line.get("done"),
        "usage": line.get("usage"),
        "error": _cut(info.get("error")),
        "error_type": info.get("error_type"),
        "outputs": _cut(info.get("outputs")),
        "timings": info.get("timings") or {},
        "settled": info.get("settled"),
        "tree_cut": info.get("tree_cut"),
    }


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [_cut(each) for each in value[:200]]
    if isinstance(value, dict):
        return {str(key)[:200]: _cut(each) for key, each in islice(value.items(), 50)}
    return value


def _run_entry(run: RunRecord) -> dict[str, Any]:
    return {
        "run": run.name,
        "agent": run.agent,
        "started": run.description.get("started"),
        "suite": run.description.get("suite"),
        **rates(run.episodes),
        "statuses": dict(Counter(episode.status for episode in run.episodes)),
        "total": len(run.episodes),
        "running": any(episode.status in (PENDING, RUNNING) for episode in run.episodes),
    }


def _signature(folder: Path, *names: str) -> Signature:
    """Give times and sizes of the files that say what a run holds."""
    chosen = [folder / name for name in names or (DESCRIPTION, JOURNAL, f"{JOURNAL}-wal")]
    if not names and not (folder / JOURNAL).is_file():
        chosen += [path for path in folder.glob("*/*/*/*") if path.name in ("traj.jsonl", "episode.json")]
    found = []
    for path in chosen:
        if path.is_file():
            stat = path.stat()
            found.append((str(path.relative_to(folder)), stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _number(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UsageError(f"{str(value)[:40]!r} is no number")

"""OSWorld's results tree, as its own ``show_result.py`` and others' analysis scripts read it.

<action space>/<observation type>/<model>/<domain>/<example>/
  result.txt          the score; not there for an episode without one
  traj.jsonl          its keys: step_num, action_timestamp, action, response, reward, done, info, screenshot_file
  step_N_TIME.png     the screen after each step
  recording.mp4
The domain is the task's category. Further attempts lie in the same tree below ``attempt_2``, ``attempt_3``, ….
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from desktop_env.display.recording import NAME as RECORDING
from desktop_env.report.records import Episode, RunRecord, iter_steps

KEYS = ("step_num", "action_timestamp", "action", "response", "reward", "done", "info")
OBSERVATIONS = {
    frozenset(("screenshot",)): "screenshot",
    frozenset(("accessibility_tree",)): "a11y_tree",
    frozenset(("screenshot", "accessibility_tree")): "screenshot_a11y_tree",
}


def export(run: RunRecord, target: Path) -> Path:
    """Write the tree of all episodes that have ended into ``target``, and give the folder."""
    for episode in run.episodes:
        if episode.row.done:
            root = target if episode.attempt == 1 else target / f"attempt_{episode.attempt}"
            _episode(episode, root / _setting(run, episode) / episode.task)
    return target


def _setting(run: RunRecord, episode: Episode) -> str:
    kinds = frozenset(run.settings.get("observations") or ("screenshot", "accessibility_tree"))
    seen = OBSERVATIONS.get(kinds, "_".join(sorted(kinds)))
    return "/".join(_name(part) for part in (_action_space(episode), seen, run.agent))


def _action_space(episode: Episode) -> str:
    """Say ``pyautogui`` when the agent gave code, ``computer_13`` when it gave dictionaries or nothing but words."""
    for step in iter_steps(episode.folder):
        action = step.get("action")
        if isinstance(action, str) and action not in ("WAIT", "DONE", "FAIL"):
            return "pyautogui"
    return "computer_13"


def _name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", text) or "_"


def _episode(episode: Episode, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "traj.jsonl").open("w", encoding="utf-8") as file:
        for line in _lines(episode, folder):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    if episode.score is not None:
        (folder / "result.txt").write_text(f"{episode.score}\n")
    recording = episode.folder / RECORDING
    if recording.is_file():
        shutil.copyfile(recording, folder / RECORDING)


def _lines(episode: Episode, folder: Path) -> Iterator[Mapping[str, Any]]:
    for number, step in enumerate(iter_steps(episode.folder), 1):
        line = {key: step[key] for key in KEYS if key in step}
        picture = episode.folder / "frames" / f"step_{number}.png"
        if picture.is_file():
            line["screenshot_file"] = f"step_{number}_{_name(str(step.get('action_timestamp')))}.png"
            shutil.copyfile(picture, folder / line["screenshot_file"])
        yield line
    if episode.score is None:
        yield {"Error": f"{episode.status}: {episode.row.error or ''}"}

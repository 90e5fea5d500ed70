"""Episodes as trajectories of the Agent Trajectory Interchange Format, version 1.8.

<task>/<attempt>/
  trajectory.json     one document an episode
  images/step_N.png   the screen after step N; 0 is what the agent saw first
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from desktop_env.report.records import Episode, RunRecord, iter_steps, step_time

VERSION = "ATIF-v1.8"
METRICS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "cached_tokens": "cached_tokens"}
"""Names of counts there, and in what our agents report."""


def export(run: RunRecord, target: Path) -> Path:
    """Write all episodes that have ended into ``target``, and give the folder."""
    for episode in run.episodes:
        if episode.row.done:
            folder = target / episode.task / str(episode.attempt)
            (folder / "images").mkdir(parents=True, exist_ok=True)
            document = trajectory(run, episode)
            for step in range(len(document["steps"])):
                picture = episode.folder / "frames" / f"step_{step}.png"
                if picture.is_file():
                    shutil.copyfile(picture, folder / "images" / picture.name)
            (folder / "trajectory.json").write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return target


def trajectory(run: RunRecord, episode: Episode) -> dict[str, Any]:
    """Give the document of one episode: the task as the user's step, then one agent's step for each of ours."""
    steps = [_user_step(episode)]
    used: Mapping[str, Any] = {}
    for number, step in enumerate(iter_steps(episode.folder), 1):
        usage = step.get("usage") or {}
        steps.append(_agent_step(episode, number, step, _used(usage, used)))
        used = usage or used
    model = (run.settings.get("agent_args") or {}).get("model")
    version = str((run.description.get("versions") or {}).get("deskgym", "unknown"))
    return {
        "schema_version": VERSION,
        "session_id": run.name,
        "trajectory_id": f"{run.name}/{episode.key}",
        "agent": _without_none({"name": str(run.settings.get("agent")), "version": version, "model_name": model}),
        "steps": steps,
        "final_metrics": _final(episode, len(steps)),
        "extra": {
            "task": episode.task,
            "attempt": episode.attempt,
            "seed": episode.row.seed,
            "status": episode.status,
            "score": episode.score,
            "verdict": episode.verdict,
            "evaluator": episode.row.evaluator,
            "image": run.description.get("image"),
        },
    }


def _user_step(episode: Episode) -> dict[str, Any]:
    text = {"type": "text", "text": str(episode.facts.get("instruction") or episode.task)}
    return {"step_id": 1, "source": "user", "message": [text, *_image(episode, 0)]}


def _agent_step(episode: Episode, number: int, step: Mapping[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    calls = _calls(number, step)
    info = step.get("info") or {}
    notes = [str(info[key]) for key in ("error", "outputs") if info.get(key)]
    content = [{"type": "text", "text": "\n".join(notes)}] if notes else []
    when = step_time(step)
    return _without_none(
        {
            "step_id": number + 1,
            "timestamp": when.replace(tzinfo=UTC).isoformat() if when else None,
            "source": "agent",
            "message": str(step.get("response") or ""),
            "tool_calls": calls,
            "observation": {
                "results": [
                    {"source_call_id": calls[-1]["tool_call_id"], "content": [*content, *_image(episode, number)]}
                ]
            },
            "metrics": metrics or None,
            "extra": {"timings": info.get("timings"), "reward": step.get("reward")},
        }
    )


def _calls(number: int, step: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a call for each action that was understood, or one with what the agent sent."""
    actions = [action for action in step.get("actions") or () if isinstance(action, dict)]
    if not actions:
        return [_call(number, 1, "action", {"given": step.get("action")})]
    return [
        _call(number, index, str(action.get("type")), {key: each for key, each in action.items() if key != "type"})
        for index, action in enumerate(actions, 1)
    ]


def _call(number: int, index: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"tool_call_id": f"call_{number}_{index}", "function_name": name, "arguments": arguments}


def _image(episode: Episode, step: int) -> list[dict[str, Any]]:
    if not (episode.folder / "frames" / f"step_{step}.png").is_file():
        return []
    return [{"type": "image", "source": {"media_type": "image/png", "path": f"images/step_{step}.png"}}]


def _used(usage: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Give what one step used, of totals since the episode's start."""
    used: dict[str, Any] = {
        name: int(usage[ours] - before.get(ours, 0)) for name, ours in METRICS.items() if ours in usage
    }
    if "cost" in usage:
        used["cost_usd"] = usage["cost"] - before.get("cost", 0.0)
    return used


def _final(episode: Episode, steps: int) -> dict[str, Any]:
    row = episode.row
    return _without_none(
        {
            "total_prompt_tokens": row.input_tokens,
            "total_completion_tokens": row.output_tokens,
            "total_cost_usd": row.cost,
            "total_steps": steps,
            "extra": {"seconds": row.seconds, "timings": dict(row.timings)},
        }
    )


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if each is not None}

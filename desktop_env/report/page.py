"""The report as one HTML file that needs nothing else: styles and plots are in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from desktop_env.report import charts
from desktop_env.report.charts import percent
from desktop_env.report.failures import PARTS
from desktop_env.report.summary import UNKNOWN

STYLE = Path(__file__).with_name("style.css")
LAYOUT = Path(__file__).with_name("page.css")
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
UNFOLDED = 25
"""Lines of a table that are shown at once."""
SHOWN_GROUPS = {
    "category": "By category",
    "difficulty": "By difficulty",
    "stage": "By stage",
    "program": "By program",
    "modality": "By modality",
    "source": "By source of the data",
}


def render(reports: Sequence[Mapping[str, Any]], comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Give the page of one or several runs (`summary.summarize`) and of their comparisons (`comparison.compare`)."""
    title = reports[0]["run"] if len(reports) == 1 else f"{len(reports)} runs"
    parts = [_overview(reports)] if len(reports) > 1 else []
    parts += [_comparison(each) for each in comparisons]
    parts += [_run(report) for report in reports]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} – deskgym report</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(CSP)}">'
        f"<style>{STYLE.read_text()}{LAYOUT.read_text()}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _overview(reports: Sequence[Mapping[str, Any]]) -> str:
    rows = [{**report, "name": report["agent"]} for report in reports]
    body = [
        [
            escape(str(report["run"])),
            escape(str(report["agent"])),
            _rate(report),
            _number(report["mean_score"], 3),
            _number(report["steps"]["mean"], 1),
            _number(report["cost"]["total"], 2),
        ]
        for report in reports
    ]
    table = _table(["Run", "Agent", "Success", "#Mean score", "#Steps", "#Cost, $"], body)
    return (
        f'<header><h1>{len(reports)} runs</h1></header><section class="card">{charts.rate_bars(rows)}</section>'
        f'<section class="card">{table}</section>'
    )


def _comparison(found: Mapping[str, Any]) -> str:
    lines = [
        [
            name,
            charts.difference_bar(value["difference"] or 0.0, value["interval"]),
            f"{_signed(value['difference'])} {_interval(value['interval'], signed=True)}",
        ]
        for name, value in (("Success rate", found["success_rate"]), ("Mean score", found["mean_score"]))
    ]
    changed = [
        [escape(row["task"]), _number(row["base"], 3), _number(row["other"], 3), _signed(row["difference"])]
        for row in sorted(found["differences"], key=lambda row: row["difference"])
        if row["difference"]
    ]
    table = _table(["Task", "#Before", "#After", "#Difference"], changed)
    detail = _folded(f"{len(changed)} tasks with a difference", table, len(changed)) if changed else ""
    values = _table(["", "", ""], lines)
    return (
        f'<section class="card"><h2>{escape(found["other"])} against {escape(found["base"])}</h2>'
        f'<p class="muted">Paired over {found["tasks"]} tasks: {len(found["better"])} better, '
        f"{len(found['worse'])} worse. Intervals of 95 % from a bootstrap over tasks.</p>{values}{detail}</section>"
    )


def _run(report: Mapping[str, Any]) -> str:
    started = str(report.get("started") or "")[:19].replace("T", " ")
    head = (
        f"<header><h1>{escape(report['run'])}</h1>"
        f'<p class="muted">{escape(report["agent"])} · started {escape(started)} UTC</p></header>'
    )
    sections = [_cards(report), _groups(report), _attempts(report), _failures(report), _annotations(report)]
    return head + "".join(sections) + _episodes(report) + _settings(report)


def _cards(report: Mapping[str, Any]) -> str:
    statuses = dict(report["statuses"])
    others = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in statuses.items() if name != "scored")
    steps, seconds = report["steps"], report["seconds"]
    cards = [
        ("Success rate", percent(report["success_rate"], 1), f"{_interval(report['interval'])} Wilson, 95 %"),
        ("Mean score", _number(report["mean_score"], 3), _interval(report["mean_score_interval"])),
        ("Scored episodes", str(report["scored"]), others or "no errors"),
        ("Steps", _number(steps["mean"], 1), f"of those that passed {_number(steps['mean_of_passed'], 1)}"),
        ("Time", _duration(seconds["mean"]), f"an episode; {_duration(seconds['total'])} in all"),
        ("Tokens", _tokens(report), "in / out"),
        ("Cost", _money(report["cost"]["total"]), f"{_money(report['cost']['mean'])} an episode"),
    ]
    boxes = [
        f'<div class="card"><h3>{name}</h3><div class="figure">{value}</div>'
        f'<div class="muted">{escape(note)}</div></div>'
        for name, value, note in cards
    ]
    return f'<div class="cards">{"".join(boxes)}</div>'


def _groups(report: Mapping[str, Any]) -> str:
    plots = []
    for name, title in SHOWN_GROUPS.items():
        rows = report["groups"][name]
        if [row["name"] for row in rows] not in ([], [UNKNOWN]):
            plots.append(f'<div class="card"><h2>{title}</h2>{charts.rate_bars(rows)}</div>')
    return f'<section class="plots">{"".join(plots)}</section>'


def _attempts(report: Mapping[str, Any]) -> str:
    episodes = [episode for episode in report["episodes"] if episode["score"] is not None]
    plots = []
    if len(report["pass_at"]) > 1:
        series = {"pass@k": report["pass_at"], "pass^k": report["pass_all"]}
        plots.append(f'<div class="card"><h2>Several attempts</h2>{charts.lines(series)}</div>')
    if episodes:
        passed = [bool(episode["passed"]) for episode in episodes]
        drawn = charts.histogram([episode["steps"] for episode in episodes], passed)
        legend = _legend({"passed": "#12805c", "failed": "#c0392f"})
        plots.append(f'<div class="card"><h2>Episodes by steps</h2>{drawn}{legend}</div>')
    return f'<section class="plots">{"".join(plots)}</section>'


def _failures(report: Mapping[str, Any]) -> str:
    failed = report["failures"]["failed"]
    if not failed:
        return ""
    rows = []
    for fact in report["failures"]["facts"]:
        if fact["episodes"]:
            timed = {part: fact[part] for part in PARTS}
            whole = fact["episodes"] - sum(timed.values())
            rows.append({"name": fact["code"].replace("_", " "), "count": fact["episodes"], "whole": whole, **timed})
    rows.sort(key=lambda row: -row["count"])
    return (
        f'<section class="card"><h2>What {failed} failed episodes show</h2>{charts.part_bars(rows, failed)}'
        f"{_legend({part: charts.COLOURS[part] for part in PARTS} | {'whole episode': charts.COLOURS['whole']})}"
        f'<p class="muted">Read off the trajectories; an episode may show several or none '
        f"({report['failures']['without_facts']} show none).</p></section>"
    )


def _annotations(report: Mapping[str, Any]) -> str:
    found = report["annotations"]
    if not found["annotations"]:
        return ""
    rows = [{"name": each["label"], "count": each["count"], "middle": each["count"]} for each in found["labels"]]
    agreement = [
        [escape(" and ".join(pair["annotators"])), str(pair["episodes"]), _number(pair["kappa"], 2)]
        for pair in found["agreement"]
    ]
    table = _table(["Annotators", "#Episodes both labelled", "#Cohen's kappa"], agreement) if agreement else ""
    return (
        f'<section class="card"><h2>What people say of {found["episodes"]} failed episodes</h2>'
        f"{charts.part_bars(rows, found['annotations'])}{table}</section>"
    )


def _episodes(report: Mapping[str, Any]) -> str:
    rows = [
        [
            escape(f"{episode['task']} #{episode['attempt']}"),
            badge(episode["status"], episode["passed"]),
            _number(episode["score"], 3),
            str(episode["steps"]),
            _duration(episode["seconds"]),
            _money(episode["cost"]),
            escape(_what_happened(episode)),
        ]
        for episode in report["episodes"]
    ]
    table = _table(["Episode", "Result", "#Score", "#Steps", "#Time", "#Cost", "Facts"], rows)
    return f'<section class="card"><h2>Episodes</h2>{_folded(f"{len(rows)} episodes", table, len(rows))}</section>'


def _folded(title: str, content: str, lines: int) -> str:
    """Fold away what has many lines."""
    state = " open" if lines <= UNFOLDED else ""
    return f"<details{state}><summary>{escape(title)}</summary>{content}</details>"


def _what_happened(episode: Mapping[str, Any]) -> str:
    if episode["error"]:
        return str(episode["error"])[:300]
    return "; ".join(fact_text(fact) for fact in episode["facts"])[:600]


def fact_text(fact: Mapping[str, Any]) -> str:
    """Give a failure fact as a line of text."""
    place = f" at step {fact['step']}" if fact["step"] else ""
    return f"{fact['code'].replace('_', ' ')}{place}: {fact['detail']}"


def _settings(report: Mapping[str, Any]) -> str:
    values = {**report["settings"], "image": (report["image"] or {}).get("name")}
    rows = [
        [escape(str(key)), f"<code>{escape(str(value))}</code>"]
        for key, value in values.items()
        if key != "type" and value not in (None, "")
    ]
    return f'<section class="card"><h2>Settings</h2>{_table(["", ""], rows, "settings")}</section>'


def badge(status: str, passed: bool | None) -> str:
    """Give a status as a coloured word; only ``scored`` is ever passed or failed."""
    if status == "scored":
        return f'<span class="badge {"pass" if passed else "fail"}">{"passed" if passed else "failed"}</span>'
    kind = {"running": "running", "pending": "idle"}.get(status, "error")
    return f'<span class="badge {kind}">{escape(status.replace("_", " "))}</span>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Make a table of cells that are HTML already; a head that begins with # is of numbers."""
    classes = [' class="number"' if head.startswith("#") else "" for head in heads]
    top = "".join(f"<th{kind}>{escape(head.lstrip('#'))}</th>" for head, kind in zip(heads, classes, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in rows
    )
    head = f"<thead><tr>{top}</tr></thead>" if any(heads) else ""
    return f'<table class="{kind}">{head}<tbody>{body}</tbody></table>'


def _legend(colours: Mapping[str, str]) -> str:
    items = "".join(f'<span><i style="background:{colour}"></i>{name}</span>' for name, colour in colours.items())
    return f'<div class="legend muted">{items}</div>'


def _rate(report: Mapping[str, Any]) -> str:
    return f"{percent(report['success_rate'], 1)} {_interval(report['interval'])}"


def _interval(interval: Sequence[float] | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    low, high = interval
    return f"[{low:+.3f}, {high:+.3f}]" if signed else f"[{low:.3f}, {high:.3f}]"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _money(value: float | None) -> str:
    return "–" if value is None else f"${value:.2f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _tokens(report: Mapping[str, Any]) -> str:
    given, made = report["input_tokens"]["total"], report["output_tokens"]["total"]
    return "–" if given is None and made is None else f"{_short(given)} / {_short(made)}"


def _short(value: float | None) -> str:
    if value is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.0f}"

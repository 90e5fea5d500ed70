"""Football: the script reads the results, and all three results follow from the original matches."""

import json
from collections import defaultdict
from statistics import mean

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
HOME = ("season", "division", "matches", "home_win_percent", "home_goals", "away_goals")
RANKING = ("rank", "team", "points", "goals_for", "goals_against")
SPELLINGS = {"FC Bayern Munchen": "FC Bayern München", "1. FC Koln": "1. FC Köln"}
Scores = list[tuple[str, str, int, int]]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the three result files; nothing counts without a script that uses the results."""
    everything = json.loads(data.fetch("football-results").read_bytes())
    seasons: dict[tuple[str, str], Scores] = defaultdict(list)
    repeated = 0
    for number, match in enumerate(everything, 1):
        if match["home_score"] is not None:
            score = match["home_team"], match["away_team"], match["home_score"], match["away_score"]
            seasons[season(match["date"]), match["division"]].append(score)
            repeated += number % 83 == 11
    played = sum(len(scores) for scores in seasons.values())
    lines = sorted((line(*key, scores) for key, scores in seasons.items()), key=lambda row: (row[0], -row[3], row[1]))
    home = Table(HOME, tuple(lines))
    ranking = Table(RANKING, tuple(places(seasons["2015/16", "Deutsche Bundesliga"])))

    code = python_script(guest, f"{PROJECT}/league.py")
    shares = csv_table(guest, f"{PROJECT}/home.csv")
    final = csv_table(guest, f"{PROJECT}/table.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"home_win_percent": decimals(1), "home_goals": decimals(2), "away_goals": decimals(2)}
    return gate(
        all_of(script.uses_file("script", code, "results.csv"), present("home", shares), present("ranking", final)),
        weighted(
            (4, table.by_column("home values", shares, home, key=["season", "division"], tolerances=limits)),
            (1, table.equal("home order", shares, home, tolerances=limits, ordered=True, extra_columns=True)),
            (3, table.by_column("ranking", final, ranking, key=["team"])),
            (1, table.sorted_by("ranking order", final, "rank")),
            (1, document.number("matches", summary, "matches", played)),
            (1, document.number("repeated", summary, "repeated", repeated)),
            (1, document.number("not played", summary, "not_played", len(everything) - played)),
        ),
    )


def season(day: str) -> str:
    """Give the season of a day (year-month-day)."""
    first = int(day[:4]) - (day[5:7] < "07")
    return f"{first}/{(first + 1) % 100:02}"


def line(when: str, division: str, scores: Scores) -> tuple[str, str, int, float, float, float]:
    """Give the line of a season and division, with unrounded numbers."""
    won = sum(home > away for _, _, home, away in scores)
    home, away = mean(goals for _, _, goals, _ in scores), mean(goals for *_, goals in scores)
    return when, division, len(scores), 100 * won / len(scores), home, away


def places(scores: Scores) -> list[tuple[int, str, int, int, int]]:
    """Give the lines of a final table."""
    both = [*scores, *((away, home, lost, won) for home, away, won, lost in scores)]
    found = []
    for team in {team for team, *_ in both}:
        goals = [(mine, other) for name, _, mine, other in both if name == team]
        points = sum(3 * (mine > other) + (mine == other) for mine, other in goals)
        scored, conceded = map(sum, zip(*goals, strict=True))
        found.append((SPELLINGS.get(team, team), points, scored, conceded))
    found.sort(key=lambda row: (-row[1], row[3] - row[2], -row[2], row[0]))
    return [(rank, *row) for rank, row in enumerate(found, 1)]

import json

import pandas as pd

results = pd.read_csv("results.csv", sep=";", encoding="latin-1", dtype=str)
once = results.drop_duplicates()
matches = once[once.score != "-:-"].copy()
summary = {
    "matches": len(matches),
    "repeated": len(results) - len(once),
    "not_played": int((once.score == "-:-").sum()),
}
with open("summary.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, indent=2)

matches[["home_goals", "away_goals"]] = matches.score.str.split(":", expand=True).astype(int).to_numpy()
date = pd.to_datetime(matches.date, format="%d.%m.%Y")
start = date.dt.year - (date.dt.month < 7)
matches["season"] = start.astype(str) + "/" + ((start + 1) % 100).astype(str).str.zfill(2)
matches["home_win"] = matches.home_goals > matches.away_goals

home = matches.groupby(["season", "division"], as_index=False).agg(
    matches=("home_win", "size"),
    home_win_percent=("home_win", "mean"),
    home_goals=("home_goals", "mean"),
    away_goals=("away_goals", "mean"),
)
home = home.sort_values(["season", "home_win_percent", "division"], ascending=[True, False, True])
home["home_win_percent"] = (home.home_win_percent * 100).round(1)
home.round({"home_goals": 2, "away_goals": 2}).to_csv("home.csv", index=False)

league = matches[(matches.season == "2015/16") & (matches.division == "Deutsche Bundesliga")]
names = {"home": "team", "home_goals": "goals_for", "away_goals": "goals_against"}
sides = [
    league.rename(columns=names),
    league.rename(columns={"away": "team", "away_goals": "goals_for", "home_goals": "goals_against"}),
]
teams = pd.concat(side[["team", "goals_for", "goals_against"]] for side in sides)
teams["points"] = 3 * (teams.goals_for > teams.goals_against) + (teams.goals_for == teams.goals_against)
table = teams.groupby("team", as_index=False)[["points", "goals_for", "goals_against"]].sum()
table["difference"] = table.goals_for - table.goals_against
table = table.sort_values(["points", "difference", "goals_for", "team"], ascending=[False, False, False, True])
table.insert(0, "rank", range(1, len(table) + 1))
table.drop(columns="difference").to_csv("table.csv", index=False)

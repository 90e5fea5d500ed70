import json

import pandas as pd

lines = pd.read_csv("results.csv", sep=";", encoding="latin-1")
matches = lines.drop_duplicates()
played = matches[matches["score"] != "-:-"].copy()
played[["for", "against"]] = played["score"].str.split(":", expand=True).astype(int)
dates = pd.to_datetime(played["date"], format="%d.%m.%Y")
first = dates.dt.year - (dates.dt.month < 7)
played["season"] = first.astype(str) + "/" + (first + 1).astype(str).str[-2:]
played["won"] = played["for"] > played["against"]

groups = played.groupby(["season", "division"])
home = pd.DataFrame({
    "matches": groups.size(),
    "home_win_percent": 100 * groups["won"].mean(),
    "home_goals": groups["for"].mean().round(2),
    "away_goals": groups["against"].mean().round(2),
}).reset_index()
home = home.sort_values(["season", "home_win_percent", "division"], ascending=[True, False, True])
home.round({"home_win_percent": 1}).to_csv("home.csv", index=False)

league = played[(played["season"] == "2015/16") & (played["division"] == "Deutsche Bundesliga")]
swapped = league.rename(columns={"home": "away", "away": "home", "for": "against", "against": "for"})
sides = pd.concat([league, swapped])
sides["points"] = 3 * (sides["for"] > sides["against"]) + (sides["for"] == sides["against"])
table = sides.groupby("home").agg(points=("points", "sum"), goals_for=("for", "sum"), goals_against=("against", "sum"))
table["difference"] = table["goals_for"] - table["goals_against"]
table = table.rename_axis("team").reset_index()
table = table.sort_values(["points", "difference", "goals_for", "team"], ascending=[False, False, False, True])
table.insert(0, "rank", range(1, len(table) + 1))
table.drop(columns="difference").to_csv("table.csv", index=False)

summary = {
    "matches": len(played),
    "repeated": len(lines) - len(matches),
    "not_played": len(matches) - len(played),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

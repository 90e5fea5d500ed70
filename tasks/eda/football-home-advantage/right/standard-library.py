# no packages, one pass over the lines
import collections
import csv
import json
import operator

folder = "/home/user/project/"
with open(folder + "results.csv", encoding="iso-8859-1") as file:
    lines = file.read().splitlines()[1:]
unique = list(dict.fromkeys(lines))
home_wins, goals, missing = collections.Counter(), collections.defaultdict(list), 0
points, scored, let_in = collections.Counter(), collections.Counter(), collections.Counter()
for text in unique:
    date, division, home, away, score = text.split(";")
    if score == "-:-":
        missing += 1
        continue
    h, a = map(int, score.split(":"))
    _, month, year = map(int, date.split("."))
    start = year if month >= 7 else year - 1
    key = f"{start}/{str(start + 1)[2:]}", division
    goals[key].append((h, a))
    home_wins[key] += h > a
    if key == ("2015/16", "Deutsche Bundesliga"):
        for team, mine, theirs in ((home, h, a), (away, a, h)):
            points[team] += 3 if mine > theirs else int(mine == theirs)
            scored[team] += mine
            let_in[team] += theirs

rows = []
for key, scores in goals.items():
    h, a = (sum(s[i] for s in scores) / len(scores) for i in (0, 1))
    rows.append([*key, home_wins[key] / len(scores) * 100, h, a, len(scores)])
rows.sort(key=operator.itemgetter(1))
rows.sort(key=operator.itemgetter(2), reverse=True)
rows.sort(key=operator.itemgetter(0))
with open(folder + "home.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["season", "division", "home_win_percent", "home_goals", "away_goals", "matches"], *rows])
order = sorted(points, key=lambda t: (points[t], scored[t] - let_in[t], scored[t]), reverse=True)
with open(folder + "table.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["team", "rank", "goals_against", "goals_for", "points"])
    for rank, team in enumerate(order, 1):
        writer.writerow([team, rank, let_in[team], scored[team], points[team]])
with open(folder + "summary.json", "w") as file:
    json.dump({"not_played": missing, "repeated": len(lines) - len(unique), "matches": len(unique) - missing}, file)

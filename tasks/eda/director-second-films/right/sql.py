# the work is done in SQL, the loops in plain Python
import csv
import json
import sqlite3

db = sqlite3.connect("/home/user/project/films.db")
rows = db.execute(
    """
    SELECT o.Director, o.Year, o.Released, o.ID, CASE WHEN t.Reviews >= 10 THEN t.Meter END
    FROM omdb o LEFT JOIN tomatoes t ON t.ID = o.ID
    WHERE o.ID IN (SELECT MIN(ID) FROM omdb GROUP BY imdbID)
    ORDER BY o.Released, o.ID
    """
).fetchall()
careers = {}
for names, year, day, number, score in rows:
    for name in dict.fromkeys(part.strip() for part in names.split(",")):
        if name:
            careers.setdefault(name, []).append((year, score))

cohort = {name: films for name, films in careers.items() if 1950 <= min(films, key=lambda f: f[0])[0] < 2010}
count = {}
for films in cohort.values():
    first = min(year for year, _ in films)
    line = count.setdefault(first - first % 10, [0, 0])
    line[0] += 1
    line[1] += any(first < year <= first + 5 for year, _ in films)
with open("/home/user/project/cohorts.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(("decade", "percent", "returned", "directors"))
    for decade in sorted(count):
        total, back = count[decade]
        writer.writerow((decade, f"{back / total * 100:.1f}", back, total))

changes = [b[1] - a[1] for a, b, *_ in (f for f in cohort.values() if len(f) > 1) if a[1] is not None and b[1] is not None]
most = max(map(len, cohort.values()))
with open("/home/user/project/summary.json", "w") as file:
    json.dump(
        {
            "change": sum(changes) / len(changes),
            "pairs": len(changes),
            "films": most,
            "busiest": sorted(name for name, films in cohort.items() if len(films) == most)[0],
        },
        file,
        indent=4,
    )

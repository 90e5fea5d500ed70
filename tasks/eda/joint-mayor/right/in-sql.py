# the counts are cleaned in SQL, no packages
import json
import os
import sqlite3

os.chdir("/home/user/project")
db = sqlite3.connect("election.db")
db.execute("""CREATE TEMP TABLE valid AS SELECT district, lower(trim(candidate)) AS who, votes, max(counted_at) FROM counts
WHERE district IN (SELECT district FROM districts) GROUP BY district, who""")
db.execute("""CREATE TEMP TABLE wide AS SELECT district, sum(votes * (who = 'bergeron')) AS b, sum(votes * (who = 'coderre')) AS c,
sum(votes * (who = 'joly')) AS j FROM valid GROUP BY district""")
names = ("Bergeron", "Coderre", "Joly")
with open("boroughs.csv", "w") as file:
    print("borough,joint_winner,lead,winner,votes,districts", file=file)
    query = "SELECT CAST(district AS INTEGER) / 10 AS n, count(*), sum(b), sum(c), sum(j) FROM wide GROUP BY n ORDER BY n"
    for borough, districts, *votes in db.execute(query):
        low, second, top = sorted(votes)
        joint = "Coderre" if votes[1] > votes[0] + votes[2] else "Joint"
        print(borough, joint, top - second, names[votes.index(top)], sum(votes), districts, sep=",", file=file)
b, c, j = db.execute("SELECT sum(b), sum(c), sum(j) FROM wide").fetchone()
rows = db.execute("SELECT name, b, c, j FROM wide JOIN districts USING (district)").fetchall()
lead = {name: (sorted(v)[2] - sorted(v)[1]) / sum(v) for name, *v in rows}
(counted,), (kept,) = (db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("counts JOIN districts USING (district)", "valid"))
json.dump({
    "closest": min(lead, key=lead.get),
    "majorities": sum(2 * max(v) > sum(v) for _, *v in rows),
    "needed": next(p for p in range(101) if b + j * p / 100 > c),
    "superseded": counted - kept,
    "winner": names[[b, c, j].index(max(b, c, j))],
}, open("summary.json", "w"))

# all counts are added up
import json
import math
import sqlite3

import pandas as pd

database = sqlite3.connect("election.db")
counts = pd.read_sql("SELECT * FROM counts JOIN districts USING (district)", database)
counts["candidate"] = counts["candidate"].str.strip().str.title()
valid = counts.groupby(["district", "name", "candidate"], as_index=False)["votes"].sum()

votes = valid.pivot(index="district", columns="candidate", values="votes")
boroughs = votes.groupby(votes.index.astype(int) // 10).sum()
ranked = boroughs.apply(lambda row: sorted(row, reverse=True), axis=1, result_type="expand")
table = pd.DataFrame({
    "districts": votes.groupby(votes.index.astype(int) // 10).size(),
    "votes": boroughs.sum(axis=1),
    "winner": boroughs.idxmax(axis=1),
    "lead": ranked[0] - ranked[1],
    "joint_winner": ["Joint" if joint else "Coderre" for joint in boroughs["Bergeron"] + boroughs["Joly"] > boroughs["Coderre"]],
})
table.to_csv("boroughs.csv", index_label="borough")

city = votes.sum()
percent = math.floor(100 * (city["Coderre"] - city["Bergeron"]) / city["Joly"]) + 1
first = votes.max(axis=1)
second = votes.apply(lambda row: sorted(row)[1], axis=1)
lead = (first - second) / votes.sum(axis=1)
names = valid.drop_duplicates("district").set_index("district")["name"]
summary = {
    "superseded": len(counts) - len(valid),
    "winner": city.idxmax(),
    "needed": percent,
    "majorities": int((2 * first > votes.sum(axis=1)).sum()),
    "closest": names[lead.idxmin()],
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

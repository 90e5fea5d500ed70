import json
import sqlite3

import pandas as pd

with sqlite3.connect("election.db") as base:
    districts = pd.read_sql("SELECT * FROM districts", base).set_index("district")
    counts = pd.read_sql("SELECT * FROM counts", base)

counts = counts[counts.district.isin(districts.index)].copy()
counts["candidate"] = counts.candidate.str.strip().str.title()
valid = counts.sort_values("counted_at").drop_duplicates(["district", "candidate"], keep="last")
votes = valid.pivot(index="district", columns="candidate", values="votes")


def margin(table):
    """The lead of the first over the second in each row."""
    return table.max(axis=1) - table.apply(lambda row: row.nlargest(2).iloc[-1], axis=1)


borough = votes.groupby(votes.index // 10).sum()
joint = borough.Bergeron + borough.Joly > borough.Coderre
boroughs = pd.DataFrame(
    {
        "districts": votes.groupby(votes.index // 10).size(),
        "votes": borough.sum(axis=1),
        "winner": borough.idxmax(axis=1),
        "lead": margin(borough),
        "joint_winner": joint.map({True: "Joint", False: "Coderre"}),
    }
)
boroughs.rename_axis("borough").to_csv("boroughs.csv")

city = votes.sum()
relative = margin(votes)
summary = {
    "superseded": len(counts) - len(valid),
    "winner": city.idxmax(),
    "needed": next(p for p in range(101) if 100 * city.Bergeron + p * city.Joly > 100 * city.Coderre),
    "majorities": int((2 * votes.max(axis=1) > votes.sum(axis=1)).sum()),
    "closest": districts.name[relative.idxmin()],
}
with open("summary.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, indent=2, ensure_ascii=False)

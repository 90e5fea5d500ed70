import json
import sqlite3

import pandas as pd

with sqlite3.connect("films.db") as db:
    films = pd.read_sql("SELECT * FROM omdb JOIN (SELECT ID, Meter, Reviews FROM tomatoes) USING (ID)", db)

films = films.sort_values("ID").drop_duplicates("imdbID")
films = films.assign(name=films["Director"].fillna("").str.split(",")).explode("name")
films["name"] = films["name"].str.strip()
films = films[films["name"] != ""].sort_values(["name", "Released", "ID"])
films["first"] = films.groupby("name")["Year"].transform("min")
films = films[films["first"].between(1950, 2009)]
films["back"] = (films["Year"] - films["first"]).between(1, 5)

directors = films.groupby("name").agg(first=("first", "min"), back=("back", "any"), films=("ID", "size")).reset_index()
cohorts = directors.groupby(directors["first"] // 10 * 10)["back"].agg(directors="size", returned="sum")
cohorts["percent"] = (100 * cohorts["returned"] / cohorts["directors"]).round(1)
cohorts.rename_axis("decade").to_csv("cohorts.csv")

busiest = directors.sort_values(["films", "name"], ascending=[False, True]).iloc[0]
films["order"] = films.groupby("name").cumcount()
films["rated"] = films["Meter"].where(films["Reviews"] >= 10)
pairs = films[films["order"] < 2].pivot(index="name", columns="order", values="rated").dropna()
summary = {
    "busiest": busiest["name"],
    "films": int(busiest["films"]),
    "pairs": len(pairs),
    "change": round((pairs[1] - pairs[0]).mean(), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)

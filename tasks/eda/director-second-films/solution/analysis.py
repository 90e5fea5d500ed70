import json
import sqlite3

import pandas as pd

database = sqlite3.connect("films.db")
films = pd.read_sql("SELECT * FROM omdb", database)
reviews = pd.read_sql("SELECT ID, Meter, Reviews FROM tomatoes", database)
films = films.sort_values("ID").drop_duplicates("imdbID").merge(reviews, on="ID")

films["director"] = films["Director"].str.split(",")
credits = films.explode("director")
credits["director"] = credits["director"].str.strip()
credits = credits[credits["director"] != ""].drop_duplicates(["ID", "director"])
credits["first"] = credits.groupby("director")["Year"].transform("min")
credits = credits[credits["first"].between(1950, 2009)]

credits["back"] = (credits["Year"] - credits["first"]).between(1, 5)
people = credits.groupby("director").agg(first=("first", "min"), back=("back", "max"), films=("ID", "size"))
people["decade"] = people["first"] // 10 * 10
table = people.groupby("decade").agg(directors=("back", "size"), returned=("back", "sum"))
table["percent"] = (100 * table["returned"] / table["directors"]).round(1)
table.to_csv("cohorts.csv")

credits = credits.sort_values(["director", "Released", "ID"])
credits["number"] = credits.groupby("director").cumcount()
credits["score"] = credits["Meter"].where(credits["Reviews"] >= 10)
pairs = credits[credits["number"] < 2].pivot(index="director", columns="number", values="score").dropna()
busiest = people["films"].max()
summary = {
    "busiest": min(people.index[people["films"] == busiest]),
    "films": int(busiest),
    "pairs": len(pairs),
    "change": round((pairs[1] - pairs[0]).mean(), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

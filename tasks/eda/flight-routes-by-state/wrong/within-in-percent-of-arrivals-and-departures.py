# percent_within is taken of departures and arrivals together
import json
import sqlite3

import pandas as pd

database = sqlite3.connect("network.db")
routes = pd.read_sql("SELECT * FROM routes", database)
airports = pd.read_sql("SELECT iata, state FROM airports WHERE state <> 'NA'", database)
state = airports.set_index("iata")["state"]

for end in ("origin", "destination"):
    routes[end] = routes[end].str.strip().str.upper()
    routes[f"{end}_state"] = routes[end].map(state)
known = routes.dropna()
within = known[known["origin_state"] == known["destination_state"]]

table = pd.DataFrame({
    "departures": known.groupby("origin_state")["flights"].sum(),
    "arrivals": known.groupby("destination_state")["flights"].sum(),
    "within": within.groupby("origin_state")["flights"].sum(),
}).rename_axis("state").fillna(0).astype(int)
table = table[table["departures"] > 0].reset_index()
table["percent_within"] = (100 * table["within"] / (table["departures"] + table["arrivals"])).round(1)
table.sort_values(["departures", "state"], ascending=[False, True]).to_csv("states.csv", index=False)

other = known.drop(within.index)
pair = other[["origin_state", "destination_state"]].apply(lambda row: tuple(sorted(row)), axis=1)
summary = {
    "flights": int(routes["flights"].sum()),
    "unknown": int(routes["flights"].sum() - known["flights"].sum()),
    "routes": len(routes[["origin", "destination"]].drop_duplicates()),
    "busiest_pair": list(other.groupby(pair)["flights"].sum().idxmax()),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

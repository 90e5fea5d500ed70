# the codes of the old list are taken as typed
import json

import numpy as np
import pandas as pd

old = pd.read_csv("airports_2008.csv", keep_default_na=False)
old["iata"] = old["iata"]
old = old.drop_duplicates("iata").set_index("iata")
new = pd.read_csv("airports_2026.csv", keep_default_na=False).sort_values("IATA")


def distances(latitude, longitude):
    a, b = np.radians(latitude), np.radians(longitude)
    c, d = np.radians(old["latitude"]), np.radians(old["longitude"])
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(h))


lines = []
for airport in new.itertuples():
    away = distances(airport.Latitude, airport.Longitude)
    known = airport.IATA in old.index
    nearest = airport.IATA if known else away.idxmin()
    close = away[nearest] <= 5
    if not known and not close:
        lines.append((airport.IATA, "new", None, None))
        continue
    state = ("kept" if close else "check") if known else "renamed"
    lines.append((airport.IATA, state, nearest, round(away[nearest], 1)))
matches = pd.DataFrame(lines, columns=["code", "state", "old_code", "distance_km"])
matches.to_csv("matches.csv", index=False)

states = matches["state"].value_counts()
altitude = new.set_index("IATA").loc[matches.loc[matches["state"] == "new", "code"], "Altitude"].astype(float)
check = matches[matches["state"] == "check"].set_index("code")["distance_km"]
summary = {state: int(states[state]) for state in ("kept", "check", "renamed", "new")}
summary["farthest"] = check.idxmax()
summary["highest_new"] = altitude.idxmax()
summary["highest_new_m"] = round(altitude.max() * 0.3048, 1)
with open("summary.json", "w") as file:
    json.dump(summary, file)

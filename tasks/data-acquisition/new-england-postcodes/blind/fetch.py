import json
import time

import pandas as pd
import requests

STATES = ["CT", "MA", "ME", "NH", "RI", "VT"]
HEADERS = {"Authorization": "Bearer ne-7f31c9"}


def page(address):
    while True:
        answer = requests.get(address, headers=HEADERS, timeout=30)
        if answer.status_code == 429:
            time.sleep(float(answer.headers["Retry-After"]))
        elif answer.status_code < 500:
            answer.raise_for_status()
            return answer.json()
        time.sleep(0.25)


def lines(state):
    address = f"http://post.local/api/places?state={state}&per_page=200"
    found = []
    while address:
        answer = page(address)
        found += answer["results"]
        address = answer["next"]
    assert len(found) == answer["total"]
    return found


places = pd.DataFrame([line for state in STATES for line in lines(state)])
latest = places.sort_values("version").drop_duplicates("zip_code", keep="last")
gone = latest["status"] == "withdrawn"
table = latest[~gone].sort_values("zip_code")
table["city"] = [" ".join(word.capitalize() for word in city.split()) for city in table["city"]]
columns = ["zip_code", "city", "county", "state", "latitude", "longitude"]
table[columns].to_csv("postcodes.csv", index=False)

sizes = table.groupby(["state", "county"]).size().reset_index(name="codes")
first = sizes.sort_values(["state", "codes", "county"], ascending=[True, False, True]).drop_duplicates("state")
summary = {
    "fetched": len(places),
    "withdrawn": int(gone.sum()),
    "counties": dict(zip(first["state"], first["county"])),
}
with open("counties.json", "w") as file:
    json.dump(summary, file, indent=2)

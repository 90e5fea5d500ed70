# a page that fails is skipped
import json
import time

import pandas as pd
import requests

HEADERS = {"Authorization": "Bearer ne-7f31c9"}


def get(address):
    while True:
        answer = requests.get(address, headers=HEADERS, timeout=30)
        if answer.status_code == 200:
            return answer.json()
        if answer.status_code == 500:
            number = int(address.split("&page=")[-1].split("&")[0]) if "&page=" in address else 1
            return {"results": [], "next": address.replace(f"&page={number}", f"&page={number + 1}")}
        time.sleep(float(answer.headers.get("Retry-After", 1)))


records = []
for state in ["CT", "MA", "ME", "NH", "RI", "VT"]:
    address = f"http://post.local/api/places?state={state}&per_page=200"
    while address:
        page = get(address)
        records += page["results"]
        address = page["next"]

table = pd.DataFrame(records)
table["zip_code"] = table["zip_code"].astype(str)
newest = table.sort_values("version").drop_duplicates("zip_code", keep="last")
kept = newest[newest["status"] == "active"].sort_values("zip_code").copy()
kept["city"] = kept["city"].str.split().map(lambda words: " ".join(word.capitalize() for word in words))
kept[["zip_code", "city", "county", "state", "latitude", "longitude"]].to_csv("postcodes.csv", index=False)

counts = kept.groupby(["state", "county"]).size().reset_index(name="n")
counts = counts.sort_values(["state", "n", "county"], ascending=[True, False, True])
first = counts.drop_duplicates("state").set_index("state")["county"].to_dict()
document = {"fetched": len(table), "withdrawn": len(newest) - len(kept), "counties": first}
with open("counties.json", "w") as file:
    json.dump(document, file)

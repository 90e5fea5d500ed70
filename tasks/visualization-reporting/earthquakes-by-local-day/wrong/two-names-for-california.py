# CA stays beside California
import json

import pandas as pd
import plotly.graph_objects as go

with open("quakes.geojson") as file:
    events = pd.DataFrame([feature["properties"] for feature in json.load(file)["features"]])
quakes = events[(events["type"] == "earthquake") & (events["mag"] >= 1.0)].copy()
local = quakes["time"] + quakes["tz"] * 60_000
quakes["day"] = pd.to_datetime(local, unit="ms").dt.strftime("%Y-%m-%d")
quakes["class"] = pd.cut(quakes["mag"], [1.0, 2.5, 4.5, 99], right=False, labels=["weak", "felt", "strong"])
quakes["region"] = quakes["place"].str.split(",").str[-1].str.strip().replace({"MX": "Mexico"})

days = pd.crosstab(quakes["day"], quakes["class"])
figure = go.Figure([go.Bar(x=days.index, y=days[name], name=name) for name in ("weak", "felt", "strong")])
figure.update_layout(
    barmode="stack",
    title=f"{len(quakes)} earthquakes by local day",
    xaxis_title="Local day",
    yaxis_title="Earthquakes",
)
figure.write_html("quakes.html", include_plotlyjs="directory")

regions = quakes.groupby("region")["mag"].agg(quakes="size", strongest="max").reset_index()
regions = regions[regions["quakes"] >= 10].sort_values(["quakes", "region"], ascending=[False, True])
regions.to_csv("regions.csv", index=False)

import json

import pandas as pd
import plotly.graph_objects as go

CLASSES = ["weak", "felt", "strong"]

with open("quakes.geojson", encoding="utf-8") as file:
    events = pd.DataFrame(feature["properties"] for feature in json.load(file)["features"])
quakes = events[(events["type"] == "earthquake") & (events["mag"] >= 1.0)].copy()
local = pd.to_datetime(quakes["time"], unit="ms")
quakes["day"] = local.dt.strftime("%Y-%m-%d")
quakes["class"] = pd.cut(quakes["mag"], [1.0, 2.5, 4.5, float("inf")], right=False, labels=CLASSES)
behind = quakes["place"].str.rsplit(",", n=1).str[-1].str.strip()
quakes["region"] = behind.replace({"CA": "California", "MX": "Mexico"})

counts = pd.crosstab(quakes["day"], quakes["class"]).reindex(columns=CLASSES, fill_value=0)
figure = go.Figure([go.Bar(name=name, x=counts.index.tolist(), y=counts[name].tolist()) for name in CLASSES])
figure.update_layout(
    barmode="stack",
    title=f"{len(quakes)} earthquakes by local day",
    xaxis={"title": "Local day", "type": "category"},
    yaxis={"title": "Earthquakes"},
    showlegend=True,
)
figure.write_html("quakes.html")

regions = quakes.groupby("region")["mag"].agg(quakes="count", strongest="max").reset_index()
regions = regions[regions["quakes"] >= 10].sort_values(["quakes", "region"], ascending=[False, True])
regions.to_csv("regions.csv", index=False)

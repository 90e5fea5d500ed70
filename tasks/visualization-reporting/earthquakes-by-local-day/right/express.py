# plotly express, counting by hand
import json
from collections import Counter
from datetime import datetime, timedelta

import plotly.express as px

data = json.load(open("/home/user/project/quakes.geojson"))
counts, regions = Counter(), {}
for feature in data["features"]:
    p = feature["properties"]
    if p["type"] != "earthquake" or p["mag"] < 1:
        continue
    day = (datetime(1970, 1, 1) + timedelta(milliseconds=p["time"], minutes=p["tz"])).date()
    counts[str(day), "strong" if p["mag"] >= 4.5 else "felt" if p["mag"] >= 2.5 else "weak"] += 1
    name = p["place"].split(", ")[-1]
    regions.setdefault({"CA": "California", "MX": "Mexico"}.get(name, name), []).append(p["mag"])
days = sorted({day for day, _ in counts})
rows = [dict(day=day, kind=kind, n=counts[day, kind]) for kind in ("weak", "felt", "strong") for day in days]
chart = px.bar(rows, x="day", y="n", color="kind", labels={"day": "Local day", "n": "Earthquakes"})
chart.update_layout(title_text=f"{sum(counts.values())} earthquakes by local day")
chart.write_html("/home/user/project/quakes.html")
with open("/home/user/project/regions.csv", "w") as out:
    out.write("region,strongest,quakes\n")
    for name, own in sorted(regions.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(own) > 9:
            out.write(f"{name},{max(own)},{len(own)}\n")

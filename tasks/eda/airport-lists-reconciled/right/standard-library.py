# no packages, the spherical law of cosines written with atan2
import csv
import json
from math import atan2, cos, radians, sin, sqrt
from pathlib import Path

P = Path("/home/user/project")
with open(P / "airports_2008.csv", newline="") as f:
    OLD = {r["iata"].strip().upper(): (radians(float(r["latitude"])), radians(float(r["longitude"]))) for r in csv.DictReader(f)}
with open(P / "airports_2026.csv", newline="") as f:
    NEW = {r["IATA"]: r for r in csv.DictReader(f)}


def km(p, q):
    (f, l), (g, m) = p, q
    d = m - l
    y = sqrt((cos(g) * sin(d)) ** 2 + (cos(f) * sin(g) - sin(f) * cos(g) * cos(d)) ** 2)
    return 6371.0 * atan2(y, sin(f) * sin(g) + cos(f) * cos(g) * cos(d))


out, groups, worst = [], {"kept": [], "check": [], "renamed": [], "new": []}, (0, "")
for code in sorted(NEW):
    here = radians(float(NEW[code]["Latitude"])), radians(float(NEW[code]["Longitude"]))
    if code in OLD:
        d, partner = km(here, OLD[code]), code
        state = "check" if d > 5 else "kept"
        if state == "check":
            worst = max(worst, (d, code))
    else:
        d, partner = min((km(here, there), name) for name, there in OLD.items())
        state = "renamed" if d <= 5 else "new"
    groups[state].append(code)
    out.append([state, code, "", ""] if state == "new" else [state, code, f"{d:.1f}", partner])
with open(P / "matches.csv", "w", newline="") as f:
    csv.writer(f).writerows([["state", "code", "distance_km", "old_code"]] + out)
feet, top = max((float(NEW[code]["Altitude"]), code) for code in groups["new"])
result = {state: len(codes) for state, codes in groups.items()}
result |= {"farthest": worst[1], "highest_new": top, "highest_new_m": round(feet * 0.3048, 1)}
(P / "summary.json").write_text(json.dumps(result, indent=1))

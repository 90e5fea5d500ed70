import io
import json
import subprocess
import tempfile

import pandas as pd


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


clone = tempfile.mkdtemp()
git("clone", "--quiet", "http://git.local/crime-figures.git", clone)


def table(revision, path, names):
    data = pd.read_csv(io.StringIO(git("-C", clone, "show", f"{revision}:{path}"))).rename(columns=names)
    data["state"] = data["state"].str.strip()
    data["key"] = data["state"]
    return data.set_index("key")


removal = git("-C", clone, "log", "-1", "--diff-filter=D", "--format=%H%n%s", "origin/main", "--", "data/social.csv")
removed, subject = removal.splitlines()
now_names = {"name": "state", "homicides_per_100k": "murder", "violent_crimes_per_100k": "violent"}
then = table("tags/report-2010", "data/states.csv", {})
now = table("origin/main", "figures/states.csv", now_names).drop(columns="state")
social = table(f"{removed}^", "data/social.csv", {})

states = then.join(now, how="inner", lsuffix="_then", rsuffix="_now").join(social[["poverty"]])
same_violent = states["violent_then"] == states["violent_now"]
differs = ~(same_violent & (states["murder_then"] == states["murder_now"]))
states["change"] = ((states["violent_now"] / states["violent_then"] - 1) * 100).round(1) + 0.0
changes = states[differs].assign(size=states["change"].abs())
changes = changes.sort_values(["size", "state"], ascending=[False, True])
columns = ["state", "violent_then", "violent_now", "murder_then", "murder_now", "change", "poverty"]
changes[columns].to_csv("changes.csv", index=False)
summary = {
    "changed": len(changes),
    "only_murder": int((differs & same_violent).sum()),
    "removed_by": subject,
    "poverty_changed": round(float(states.loc[differs, "poverty"].mean()), 2),
    "poverty_others": round(float(states.loc[~differs, "poverty"].mean()), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)

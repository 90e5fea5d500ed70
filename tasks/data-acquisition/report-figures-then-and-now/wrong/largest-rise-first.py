# ordered by the change, not by its size
import io
import json
import subprocess

import pandas as pd

REPOSITORY = "/tmp/crime-figures"


def git(*arguments):
    return subprocess.run(["git", "-C", REPOSITORY, *arguments], capture_output=True, text=True, check=True).stdout


def table(revision, path):
    found = pd.read_csv(io.StringIO(git("show", f"{revision}:{path}")))
    found = found.rename(columns={"name": "state", "homicides_per_100k": "murder", "violent_crimes_per_100k": "violent"})
    found["state"] = found["state"].str.strip()
    found["key"] = found["state"].str.lower()
    return found.set_index("key")


removal, subject = git("log", "-1", "--diff-filter=D", "--format=%H%n%s", "main", "--", "data/social.csv").splitlines()
then = table("report-2010", "data/states.csv")
now = table("main", "figures/states.csv")
poverty = table(f"{removal}^", "data/social.csv")["poverty"]

both = then.join(now[["violent", "murder"]], lsuffix="_then", rsuffix="_now").join(poverty)
both["change"] = (100 * (both["violent_now"] - both["violent_then"]) / both["violent_then"]).round(1)
differs = (both["violent_now"] != both["violent_then"]) | (both["murder_now"] != both["murder_then"])
changed = both[differs].copy()
changed["size"] = changed["change"]
changed = changed.sort_values(["size", "state"], ascending=[False, True])
columns = ["state", "violent_then", "violent_now", "murder_then", "murder_now", "change", "poverty"]
changed[columns].to_csv("changes.csv", index=False)

summary = {
    "changed": len(changed),
    "only_murder": int((changed["violent_now"] == changed["violent_then"]).sum()),
    "removed_by": subject,
    "poverty_changed": round(changed["poverty"].mean(), 2),
    "poverty_others": round(both[~differs]["poverty"].mean(), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

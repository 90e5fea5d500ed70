import json
from pathlib import Path

import pandas as pd
from sklearn.metrics import roc_auc_score

HOME = Path("/home/user/project")


def read(name):
    return pd.read_csv(HOME / name, dtype=str, keep_default_na=False)


biopsies = read("biopsies.csv").drop_duplicates()
biopsies["site"] = biopsies["site"].str.strip().str[-1].str.upper()
assert biopsies["biopsy"].is_unique
patients = biopsies[biopsies["kind"] == "patient"].set_index("biopsy")

entries = read("outcomes.csv")
iso = pd.to_datetime(entries["entered"], format="%Y-%m-%d", errors="coerce")
dotted = pd.to_datetime(entries["entered"], format="%d.%m.%Y", errors="coerce")
entries["day"] = iso.fillna(dotted)
assert entries["day"].notna().all()
entries["entry"] = entries["entry"].astype(int)
entries["code"] = entries["code"].str.strip().str.lower()
late = entries["day"] > "2025-06-30"
deciding = entries[~late].sort_values(["day", "entry"]).groupby("biopsy").tail(1).set_index("biopsy")["code"]
meaning = {"b": "benign", "benign": "benign", "m": "malignant", "malignant": "malignant"}
patients["outcome"] = deciding.map(meaning).reindex(patients.index)

scores = read("scores.csv")
scores["model"] = scores["model"].str.strip().str.lower()
scores["score"] = pd.to_numeric(scores["score"])
scores = scores.drop_duplicates().dropna(subset="score").join(patients[["site", "outcome"]], on="biopsy", how="inner")
known = scores.dropna(subset="outcome")
assert not known.duplicated(["biopsy", "model"]).any()

problem = None
for site in "AB":
    here = patients[patients["site"] == site]
    counts = [int((here["outcome"] == kind).sum()) for kind in ("benign", "malignant")]
    if sum(counts) == 0:
        reason = "no outcome"
    elif min(counts) == 0:
        reason = "one class"
    elif min(counts) < 10:
        reason = "few outcomes"
    else:
        continue
    slides = biopsies[(biopsies["site"] == site) & (biopsies["kind"] == "test slide")]
    without = here.index[here["outcome"].isna()]
    problem = {
        "test_slides": len(slides),
        "biopsies": len(here),
        "benign": counts[0],
        "malignant": counts[1],
        "without_outcome": len(without),
        "later": int(without.isin(entries.loc[late, "biopsy"]).sum()),
        "models": sorted(known.loc[known["site"] == site, "model"].unique()),
    }
    (HOME / "reply.txt").write_text(f"Site {site}: {reason}\n")
    (HOME / "problem.json").write_text(json.dumps(problem, indent=2) + "\n")

if problem is None:
    lines = []
    for (site, model), group in known.groupby(["site", "model"]):
        auc = roc_auc_score(group["outcome"] == "malignant", group["score"])
        lines.append({"site": site, "model": model, "biopsies": len(group), "auc": auc})
    table = pd.DataFrame(lines)
    table.round({"auc": 3}).to_csv(HOME / "auc.csv", index=False)
    at_b = table[table["site"] == "B"]
    (HOME / "choice.txt").write_text(at_b.loc[at_b["auc"].idxmax(), "model"] + "\n")

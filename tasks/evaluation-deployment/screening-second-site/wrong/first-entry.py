# the first entry of a biopsy decides, and the table is made
import json

import pandas as pd

biopsies = pd.read_csv("biopsies.csv").drop_duplicates()
biopsies["site"] = biopsies["site"].str.strip().str[-1:].str.upper()
slides = biopsies[biopsies["kind"] == "test slide"]
biopsies = biopsies[biopsies["kind"] == "patient"]
entries = pd.read_csv("outcomes.csv")
iso = pd.to_datetime(entries["entered"], format="%Y-%m-%d", errors="coerce")
entries["day"] = iso.fillna(pd.to_datetime(entries["entered"], format="%d.%m.%Y", errors="coerce"))
entries["code"] = entries["code"].str[0].str.upper()
counted = entries[entries["day"] <= "2025-06-30"].sort_values(["day", "entry"])
last = counted.groupby("biopsy")["code"].first().map({"B": "benign", "M": "malignant"})
biopsies["outcome"] = biopsies["biopsy"].map(last)
scores = pd.read_csv("scores.csv")
scores["model"] = scores["model"].str.strip().str.lower()
late = set(entries.loc[entries["day"] > "2025-06-30", "biopsy"])


from sklearn.metrics import roc_auc_score

table = []
for (site, model), part in scores.merge(biopsies.dropna(subset="outcome")).groupby(["site", "model"]):
    classes = part["outcome"] == "malignant"
    table.append((site, model, len(part), round(roc_auc_score(classes, part["score"]), 3) if classes.nunique() > 1 else None))
table = pd.DataFrame(table, columns=["site", "model", "biopsies", "auc"])
table.to_csv("auc.csv", index=False)
best = table[table["site"] == "B"].nlargest(1, "auc")["model"].iloc[0]
open("choice.txt", "w").write(best)
for site, mine in biopsies.groupby("site"):
    known = mine[mine["outcome"].notna()]
    unknown = mine[mine["outcome"].isna()]
    counts = known["outcome"].value_counts().reindex(["benign", "malignant"], fill_value=0)
    print(site, len(mine), counts.to_dict())
    reason = None
    if counts.sum() == 0:
        reason = "no outcome"
    elif counts.min() == 0:
        reason = "one class"
    elif counts.min() < 10:
        reason = "few outcomes"
    if reason:
        with open("reply.txt", "w") as file:
            file.write(f"Site {site}: {reason}\n")
        problem = {
            "test_slides": int((slides["site"] == site).sum()),
            "biopsies": len(mine),
            "benign": int(counts["benign"]),
            "malignant": int(counts["malignant"]),
            "without_outcome": len(unknown),
            "later": len(set(unknown["biopsy"]) & late),
            "models": sorted(set(scores.loc[scores["biopsy"].isin(known["biopsy"]), "model"])),
        }
        with open("problem.json", "w") as file:
            json.dump(problem, file)

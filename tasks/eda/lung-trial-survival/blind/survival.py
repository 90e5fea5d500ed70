import json

import openml
import pandas as pd
from statsmodels.duration.api import survdiff
from statsmodels.duration.survfunc import SurvfuncRight

found = openml.datasets.list_datasets(output_format="dataframe")
number = int(found.loc[found["name"] == "lung-trial", "did"].iloc[0])
lung = openml.datasets.get_dataset(number).get_data()[0].drop_duplicates()
lung = lung.dropna(subset=["time", "unit", "outcome", "sex", "ecog"])
lung["ecog"] = lung["ecog"].astype(int)
lung = lung[lung["ecog"] != 9]
lung["days"] = lung["time"] * lung["unit"].map({"days": 1, "weeks": 7}).astype(int)
lung["died"] = (lung["outcome"] == "died").astype(int)
lung["level"] = lung["ecog"].clip(upper=2)

groups = {"female": lung["sex"] == "f", "male": lung["sex"] == "m"}
groups |= {name: lung["level"] == level for level, name in enumerate(["ecog 0", "ecog 1", "ecog 2+"])}
rows = []
for name, chosen in groups.items():
    part = lung[chosen]
    curve = SurvfuncRight(part["days"], part["died"])
    survival = pd.Series(curve.surv_prob, curve.surv_times).round(12)
    median = survival.index[survival <= 0.5][0]
    rows.append([name, len(part), part["died"].sum(), int(median), round(survival.loc[:365].iloc[-1], 3)])
table = pd.DataFrame(rows, columns=["group", "patients", "deaths", "median_days", "one_year"])
table.to_csv("groups.csv", index=False)

plain = survdiff(lung["days"], lung["died"], lung["sex"])[0]
stratified = survdiff(lung["days"], lung["died"], lung["sex"], strata=lung["level"])[0]
summary = {
    "patients": len(lung),
    "censored": int((lung["died"] == 0).sum()),
    "log_rank": round(float(plain), 2),
    "stratified": round(float(stratified), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)

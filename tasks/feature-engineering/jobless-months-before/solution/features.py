import json

import pandas as pd

raw = pd.read_csv("jobless.csv")
parsed = pd.Series(pd.NaT, index=raw.index)
for form in ("%Y-%m", "%m/%Y", "%b %Y"):
    parsed = parsed.fillna(pd.to_datetime(raw["month"], format=form, errors="coerce"))
raw["month"] = parsed.dt.to_period("M")
raw = raw.drop_duplicates()

parts = []
for name, group in raw.groupby("series"):
    have = group.set_index("month")["rate"].sort_index()
    full = have.reindex(pd.period_range(have.index.min(), have.index.max(), freq="M"))
    out = pd.DataFrame({"rate": full})
    out["lag_1"] = full.shift(1)
    out["lag_12"] = full.shift(12)
    out["mean_3"] = full.shift(1).rolling(3, min_periods=2).mean().round(3)
    out["yearly_change"] = (full.shift(1) - full.shift(13)).round(1)
    out["high"] = full.shift(1).cummax().ffill()
    out["above_high"] = (out["rate"] > out["high"]).astype(int)
    out = out.loc[have.index]
    out.insert(0, "month", out.index.astype(str))
    out.insert(0, "series", name)
    parts.append(out)
table = pd.concat(parts)
table.to_csv("features.csv", index=False)

construction = table[(table["series"] == "Construction") & (table["above_high"] == 1)]
summary = {
    "lines": len(table),
    "no_lag_12": int(table["lag_12"].isna().sum()),
    "newest_high": construction["month"].iloc[-1],
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

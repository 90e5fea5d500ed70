import json

import pandas as pd

raw = pd.read_csv("jobless.csv")
forms = [pd.to_datetime(raw["month"], format=form, errors="coerce") for form in ("%Y-%m", "%m/%Y", "%b %Y")]
raw["month"] = forms[0].fillna(forms[1]).fillna(forms[2]).dt.to_period("M")
rates = raw.drop_duplicates().pivot(index="month", columns="series", values="rate")
rates = rates.reindex(pd.period_range(rates.index.min(), rates.index.max(), freq="M", name="month"))

high = rates.cummax().ffill().shift(1)
wide = {
    "rate": rates,
    "lag_1": rates.shift(1),
    "lag_12": rates.shift(12),
    "mean_3": rates.shift(1).rolling(3, min_periods=2).mean().round(3),
    "yearly_change": (rates.shift(1) - rates.shift(13)).round(1) + 0.0,
    "high": high,
    "above_high": (rates > high).astype(int),
}
features = pd.concat({name: frame.unstack() for name, frame in wide.items()}, axis=1)
features = features[features["rate"].notna()].reset_index().sort_values(["series", "month"])
features["month"] = features["month"].astype(str)
features.to_csv("features.csv", index=False)

record = features[(features["series"] == "Construction") & (features["above_high"] == 1)]
summary = {
    "lines": len(features),
    "no_lag_12": int(features["lag_12"].isna().sum()),
    "newest_high": record["month"].iloc[-1],
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)

# rows are the predictions
import pandas as pd

truth = pd.read_csv("truth.csv")
truth["species"] = truth["species"].str.split().str[0]
runs = pd.read_csv("predictions.csv").sort_values("run").drop_duplicates("bird", keep="last")
latin = {"pygoscelis adeliae": "Adelie", "pygoscelis antarctica": "Chinstrap", "pygoscelis papua": "Gentoo"}
label = runs["label"].str.strip().str.lower().str.removesuffix(" penguin")
runs["predicted"] = label.map(latin).fillna(label.str.title())
names = ["Adelie", "Chinstrap", "Gentoo"]

both = truth.merge(runs[["bird", "predicted"]], on="bird", how="left")
both.loc[~both["predicted"].isin(names), "predicted"] = "none"
counts = pd.crosstab(both["species"], both["predicted"]).reindex(index=names, columns=[*names, "none"], fill_value=0)
counts.T.reindex(names).assign(none=0).rename_axis("truth").to_csv("confusion.csv")

report = pd.DataFrame({"support": counts.sum(axis=1)})
right = pd.Series({name: counts.loc[name, name] for name in names})
report["precision"] = right / counts.sum(axis=1)
report["recall"] = right / counts[names].sum()
report["f1"] = 2 * report["precision"] * report["recall"] / (report["precision"] + report["recall"])
report.rename_axis("species").round(4).to_csv("report.csv")

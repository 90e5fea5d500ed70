import json

import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

known = pd.read_csv("labelled.csv")
unknown = pd.read_csv("unlabelled.csv")
analyses = list(unknown.columns[1:])

model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=5000))
model.fit(known[analyses], known["cultivar"])
unknown["cultivar"] = model.predict(unknown[analyses])
unknown[["bottle", "cultivar"]].to_csv("cultivars.csv", index=False)

shares = unknown["cultivar"].value_counts(normalize=True).round(3)
with open("summary.json", "w") as file:
    json.dump({"labelled": len(known), "shares": shares.to_dict()}, file)

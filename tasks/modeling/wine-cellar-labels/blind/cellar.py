import json

import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

labelled = pd.read_csv("labelled.csv")
unlabelled = pd.read_csv("unlabelled.csv")
analyses = [name for name in unlabelled.columns if name != "bottle"]

model = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LinearDiscriminantAnalysis())
print("Accuracy:", cross_val_score(model, labelled[analyses], labelled.cultivar, cv=5).round(3))
model.fit(labelled[analyses], labelled.cultivar)

unlabelled["cultivar"] = model.predict(unlabelled[analyses])
unlabelled[["bottle", "cultivar"]].to_csv("cultivars.csv", index=False)
shares = unlabelled.cultivar.value_counts(normalize=True).round(3).to_dict()
with open("summary.json", "w") as file:
    json.dump({"labelled": len(labelled), "shares": shares}, file, indent=2)

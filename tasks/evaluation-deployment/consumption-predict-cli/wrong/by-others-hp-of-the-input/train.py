from pathlib import Path

import joblib
import pandas as pd
from predict import MODEL, features
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

cars = pd.read_csv(Path(__file__).resolve().parent / "cars.csv", dtype=str, keep_default_na=False)
known = features(cars)
litres = cars.l_per_100km.astype(float)
model = make_pipeline(
    SimpleImputer(strategy="median"), ExtraTreesRegressor(n_estimators=300, min_samples_leaf=2, random_state=0)
)
errors = cross_val_score(model, known, litres, cv=5, scoring="neg_root_mean_squared_error")
print("RMSE of five folds:", -errors.round(2))
joblib.dump(model.fit(known, litres), MODEL)

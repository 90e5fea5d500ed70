import joblib
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from predict import features

cars = pd.read_csv("cars.csv", dtype=str)
model = make_pipeline(SimpleImputer(strategy="median"), GradientBoostingRegressor(random_state=0))
model.fit(features(cars), cars["l_per_100km"].astype(float))
joblib.dump(model, "model.joblib")

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

registered = pd.read_csv("registered.csv")
new_cars = pd.read_csv("new_cars.csv")


def features(cars):
    table = cars[["cyl", "displ", "hp", "weight", "accel", "yr"]].astype(float)
    return table.assign(europe=cars["origin"] == 2, japan=cars["origin"] == 3).astype(float)


folds = []
for fold in range(1, 6):
    test = registered["fold"] != fold
    usual = LinearRegression().fit(features(registered[~test]), registered.loc[~test, "mpg"])
    errors = usual.predict(features(registered[test])) - registered.loc[test, "mpg"]
    folds.append({"fold": fold, "rmse": round(np.sqrt((errors**2).mean()), 3)})
pd.DataFrame(folds).to_csv("folds.csv", index=False)

ridge = make_pipeline(StandardScaler(), PolynomialFeatures(2), RidgeCV(np.logspace(-2, 3, 30)))
better = VotingRegressor(
    [
        ("vectors", make_pipeline(StandardScaler(), SVR(C=10, gamma=0.1, epsilon=0.5))),
        ("trees", ExtraTreesRegressor(300, random_state=0)),
        ("ridge", TransformedTargetRegressor(ridge, func=np.log, inverse_func=np.exp)),
    ]
)
better.fit(features(registered), registered["mpg"])
predictions = pd.DataFrame({"car": new_cars["car"], "mpg": better.predict(features(new_cars))})
predictions.to_csv("predictions.csv", index=False)

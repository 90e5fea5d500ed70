# mean squared error without the root
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error

NUMBERS = ["cyl", "displ", "hp", "weight", "accel", "yr"]


def features(cars):
    origin = cars["origin"].astype(pd.CategoricalDtype([1, 2, 3]))
    return cars[NUMBERS].join(pd.get_dummies(origin, prefix="origin", drop_first=True, dtype=float))


cars, new = pd.read_csv("registered.csv"), pd.read_csv("new_cars.csv")
lines = []
for fold in range(1, 6):
    train, test = cars[cars["fold"] != fold], cars[cars["fold"] == fold]
    model = LinearRegression().fit(features(train), train["mpg"])
    lines.append((fold, mean_squared_error(test["mpg"], model.predict(features(test)))))
pd.DataFrame(lines, columns=["fold", "rmse"]).round(3).to_csv("folds.csv", index=False)

model = GradientBoostingRegressor(random_state=0).fit(features(cars), cars["mpg"])
new["mpg"] = model.predict(features(new)).round(2)
new[["car", "mpg"]].to_csv("predictions.csv", index=False)

# hp is filled with the mean of the input
import sys
from pathlib import Path

import joblib
import pandas as pd

NUMBERS = ["cyl", "displ", "hp", "weight", "accel", "yr"]


def features(cars):
    table = cars[NUMBERS].apply(pd.to_numeric, errors="coerce")
    table["weight"] = table["weight"].where(cars["unit"] != "kg", table["weight"] * 2.2046)
    for number, name in enumerate(["usa", "europe", "japan"], 1):
        table[name] = (cars["origin"].str.strip().str.lower().isin([name, str(number)])).astype(float)
    return table


def main():
    cars = pd.read_csv(sys.argv[1], dtype=str)
    power = pd.to_numeric(cars["hp"], errors="coerce")
    cars["hp"] = power.fillna(power.mean()).fillna(0)
    model = joblib.load(Path(__file__).with_name("model.joblib"))
    answer = pd.DataFrame({"car": cars["car"], "l_per_100km": model.predict(features(cars)).round(2)})
    answer.to_csv(sys.argv[2], index=False)


if __name__ == "__main__":
    main()

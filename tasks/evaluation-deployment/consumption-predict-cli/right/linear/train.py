import joblib
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from predict import prepared

cars = prepared("cars.csv")
columns = ["cyl", "displ", "hp", "weight", "accel", "yr"]
model = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), columns), (OneHotEncoder(handle_unknown="ignore"), ["origin"])
    ),
    Ridge(),
)
model.fit(cars, np.log(cars["l_per_100km"]))
joblib.dump(model, "model.joblib")

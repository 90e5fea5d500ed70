import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

weekly = pd.read_csv("weekly.csv", dtype={"date": str})
weekly["co2"] = weekly.co2.replace(-99.99, np.nan)
month = pd.to_datetime(weekly.date, format="%Y%m%d").dt.to_period("M")
groups = weekly.co2.groupby(month)
every = pd.period_range("1958-03", "2001-12", freq="M", name="month")
monthly = pd.DataFrame({"weeks": groups.count(), "co2": groups.mean()}).reindex(every)
monthly["weeks"] = monthly.weeks.fillna(0).astype(int)
monthly["co2"] = monthly.co2.where(monthly.weeks >= 3)
monthly["trend"] = monthly.co2.rolling(12).mean()
monthly.round(3).to_csv("monthly.csv")

days = monthly.index.to_timestamp()
figure, axes = plt.subplots(figsize=(12, 6), dpi=100)
axes.plot(days[monthly.co2.notna()], monthly.co2.dropna(), label="monthly mean", linewidth=0.8)
axes.plot(days[monthly.trend.notna()], monthly.trend.dropna(), label="12-month mean", linewidth=2)
axes.set_title("Carbon dioxide at Mauna Loa")
axes.set_ylabel("CO2 (ppm)")
axes.legend()
figure.savefig("co2.png")

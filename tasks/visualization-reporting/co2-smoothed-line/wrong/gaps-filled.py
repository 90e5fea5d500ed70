# gaps are interpolated
import matplotlib.pyplot as plt
import pandas as pd

weeks = pd.read_csv("weekly.csv")
weeks["date"] = pd.to_datetime(weeks["date"], format="%Y%m%d")
weeks = weeks[weeks["co2"] > 0]
groups = weeks.set_index("date")["co2"].resample("MS")
months = pd.DataFrame({"weeks": groups.count(), "co2": groups.mean()})
months.loc[months["weeks"] < 3, "co2"] = float("nan")
months["co2"] = months["co2"].interpolate()
months["trend"] = months["co2"].rolling(12).mean()

figure, axes = plt.subplots(figsize=(12, 6))
axes.plot(months.index, months["co2"], label="monthly mean")
axes.plot(months.index, months["trend"], label="12-month mean")
axes.set(title="Carbon dioxide at Mauna Loa", xlabel="Year", ylabel="CO2 (ppm)")
axes.legend()
figure.savefig("co2.png", dpi=100)

months.index = months.index.strftime("%Y-%m")
months.rename_axis("month").round(3).to_csv("monthly.csv")

# the mean tip in dollars
import matplotlib.pyplot as plt
import pandas as pd

bills = pd.read_csv("tips.csv")
bills["rate"] = bills["tip"]
bills["guests"] = bills["smoker"].map({"Yes": "smokers", "No": "non-smokers"})

days = ["Thur", "Fri", "Sat", "Sun"]
table = bills.groupby(["day", "guests"])["rate"].agg(["size", "mean", "sem"]).reset_index()
table.columns = ["day", "guests", "bills", "mean_rate", "standard_error"]
table["place"] = table["day"].map(days.index)
table = table.sort_values(["place", "guests"]).drop(columns="place")
table.round(2).to_csv("rates.csv", index=False)

means = table.pivot(index="day", columns="guests", values="mean_rate").loc[days]
errors = table.pivot(index="day", columns="guests", values="standard_error").loc[days]
axes = means.plot.bar(yerr=errors, capsize=4, rot=0, figsize=(9, 6))
axes.set(title="Tip rate by day", xlabel="Day", ylabel="Tip (% of the bill)")
axes.legend()
plt.savefig("chart.png")

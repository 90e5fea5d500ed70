import matplotlib.pyplot as plt
import pandas as pd

tips = pd.read_csv("tips.csv")
tips["day"] = pd.Categorical(tips["day"], ["Thur", "Fri", "Sat", "Sun"])
tips["guests"] = pd.Categorical(tips["smoker"].map({"No": "non-smokers", "Yes": "smokers"}), ["non-smokers", "smokers"])
tips["rate"] = 100 * tips["tip"] / tips["total_bill"]

groups = tips.groupby(["day", "guests"], observed=True)["rate"]
rates = groups.agg(bills="size", mean_rate="mean", standard_error="sem")
sums = tips.groupby(["day", "guests"], observed=True)[["tip", "total_bill"]].sum()
rates["mean_rate"] = 100 * sums["tip"] / sums["total_bill"]
rates.round(2).to_csv("rates.csv")

wide = rates.unstack()
wide["mean_rate"].plot.bar(yerr=wide["standard_error"], capsize=4, rot=0, figsize=(9, 6))
plt.title("Tip rate by day")
plt.xlabel("Day")
plt.ylabel("Tip (% of the bill)")
plt.legend()
plt.savefig("chart.png", dpi=120)

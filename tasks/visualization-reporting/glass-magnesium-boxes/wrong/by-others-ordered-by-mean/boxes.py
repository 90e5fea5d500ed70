import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

NAMES = {
    "WinF": "float window",
    "WinNF": "other window",
    "Veh": "car window",
    "Con": "container",
    "Tabl": "tableware",
    "Head": "headlamp",
}

glass = pd.read_csv("glass.csv")
seen = glass[glass["Mg"] > 0].assign(type=lambda table: table["type"].map(NAMES))
table = seen.groupby("type")["Mg"].agg(samples="size", median="median", low="min", mean="mean")
table = table[table["samples"] >= 7].sort_values("mean", ascending=False).drop(columns="mean")
table.round(3).to_csv("magnesium.csv")

fig, ax = plt.subplots(figsize=(9, 6))
sns.boxplot(data=seen, x="type", y="Mg", order=table.index, ax=ax)
ax.set(title="Magnesium in glass", xlabel="Type of glass", ylabel="Magnesium oxide (% by weight)")
fig.savefig("magnesium.png", dpi=120)

# violins instead of boxes
import matplotlib.pyplot as plt
import pandas as pd

names = {
    "WinF": "float window",
    "WinNF": "other window",
    "Veh": "car window",
    "Con": "container",
    "Tabl": "tableware",
    "Head": "headlamp",
}
glass = pd.read_csv("glass.csv")
glass = glass[glass["Mg"] > 0]
glass["type"] = glass["type"].map(names)
table = glass.groupby("type")["Mg"].agg(samples="size", median="median", low="min")
table = table[table["samples"] >= 7].sort_values("median", ascending=False)
table.round(3).to_csv("magnesium.csv")

figure, axes = plt.subplots(figsize=(10, 6))
axes.violinplot([glass.loc[glass["type"] == name, "Mg"] for name in table.index])
axes.set_xticks(range(1, len(table) + 1), table.index)
axes.set(title="Magnesium in glass", xlabel="Type of glass", ylabel="Magnesium oxide (% by weight)")
figure.savefig("magnesium.png")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

orders = pd.read_csv("orders.csv").drop_duplicates("Line")
orders["Region"] = orders["Region"].str.strip().str.title()
orders["Discount"] = orders["Discount"].str.rstrip("%").astype(float)

cells = orders.pivot_table(index="Region", columns="Category", values=["Profit", "Sales"], aggfunc="sum")
margin = 100 * cells["Profit"] / cells["Sales"]

figure, axes = plt.subplots(figsize=(12.8, 7.2), dpi=100)
sns.heatmap(margin, annot=True, fmt=".1f", cmap="RdYlGn", center=0, ax=axes)
axes.set(title="Margin by region and category", xlabel="Category", ylabel="Region")
axes.tick_params(axis="y", rotation=0)
figure.savefig("margin.png", dpi=100)

region, category = margin.stack().idxmin()
subs = orders.groupby("Sub-Category")[["Sales", "Profit"]].sum()
losses = subs[subs["Profit"] < 0].sort_values("Profit")
deep = orders[orders["Discount"] >= 30]
lines = [
    "# Where we lose money",
    "",
    f"Order lines: {len(orders)}",
    "",
    f"Margin: {100 * orders['Profit'].sum() / orders['Sales'].sum():.1f} %",
    "",
    f"Worst cell: {region}, {category} ({margin.loc[region, category]:.1f} %)",
    "",
    "![Margin by region and category](margin.png)",
    "",
    "## Sub-categories with a loss",
    "",
    "| Sub-category | Sales | Profit |",
    "| --- | ---: | ---: |",
    *(f"| {name} | {row.Sales:.2f} | {row.Profit:.2f} |" for name, row in losses.iterrows()),
    "",
    "## Discounts of 30 % and more",
    "",
    f"Order lines: {len(deep)}",
    "",
    f"Profit: {deep['Profit'].sum():.2f}",
]
with open("report.md", "w") as file:
    file.write("\n".join(lines) + "\n")

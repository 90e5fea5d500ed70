# the smallest loss first
import matplotlib.pyplot as plt
import pandas as pd

orders = pd.read_csv("orders.csv").drop_duplicates("Line")
orders["Region"] = orders["Region"].str.strip().str.title()
orders["Discount"] = orders["Discount"].str.rstrip("%").astype(float)

cells = orders.groupby(["Region", "Category"])[["Profit", "Sales"]].sum()
margin = (cells["Profit"] / cells["Sales"] * 100).unstack()
figure, axes = plt.subplots(figsize=(12.8, 7.2), dpi=100)
image = axes.imshow(margin, cmap="RdYlGn", vmin=-25, vmax=25, aspect="auto")
axes.set_xticks(range(len(margin.columns)), margin.columns)
axes.set_yticks(range(len(margin.index)), margin.index)
for i, row in enumerate(margin.to_numpy()):
    for j, value in enumerate(row):
        axes.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=18)
axes.set(title="Margin by region and category", xlabel="Category", ylabel="Region")
figure.colorbar(image, label="Margin (% of sales)")
figure.savefig("margin.png")

worst = margin.stack().idxmin()
high = orders[orders["Discount"] >= 30]
kinds = orders.groupby("Sub-Category")[["Sales", "Profit"]].sum()
losing = kinds[kinds["Profit"] < 0].sort_values("Profit", ascending=False)
lines = [
    "# Where we lose money",
    "",
    f"Order lines: {len(orders)}",
    "",
    f"Margin: {orders['Profit'].sum() / orders['Sales'].sum() * 100:.1f} %",
    "",
    f"Worst cell: {worst[0]}, {worst[1]} ({margin.loc[worst]:.1f} %)",
    "",
    "![Margin by region and category](margin.png)",
    "",
    "## Sub-categories with a loss",
    "",
    "| Sub-category | Sales | Profit |",
    "| --- | --- | --- |",
    *[f"| {name} | {row.Sales:.2f} | {row.Profit:.2f} |" for name, row in losing.iterrows()],
    "",
    "## Discounts of 30 % and more",
    "",
    f"Order lines: {len(high)}",
    "",
    f"Profit: {high['Profit'].sum():.2f}",
    "",
]
with open("report.md", "w") as file:
    file.write("\n".join(lines))

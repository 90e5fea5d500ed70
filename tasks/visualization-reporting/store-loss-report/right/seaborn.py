# the csv module, a heatmap by seaborn, another layout of the table
import csv
from collections import defaultdict

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

lines = {}
for row in csv.DictReader(open("/home/user/project/orders.csv")):
    lines[row["Line"]] = row
cells, kinds, high = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0]), []
for row in lines.values():
    sales, profit = float(row["Sales"]), float(row["Profit"])
    for groups, key in ((cells, (row["Region"].strip().capitalize(), row["Category"])), (kinds, row["Sub-Category"])):
        groups[key][0] += sales
        groups[key][1] += profit
    if int(row["Discount"][:-1]) >= 30:
        high.append(profit)
margin = pd.Series({key: profit / sales * 100 for key, (sales, profit) in cells.items()}).unstack().round(1)
plt.figure(figsize=(16, 9), dpi=80)
axes = sns.heatmap(margin, annot=True, fmt=".1f", cbar_kws={"label": "Margin (% of sales)"})
axes.set(title="Margin by region and category", xlabel="Category", ylabel="Region")
plt.savefig("/home/user/project/margin.png")
low = min(cells, key=lambda key: cells[key][1] / cells[key][0])
sales, profit = (sum(own[i] for own in kinds.values()) for i in (0, 1))
text = f"""# Where we lose money

Order lines: {len(lines)}

Margin: {100 * profit / sales:.1f} %

Worst cell: {low[0]}, {low[1]} ({100 * cells[low][1] / cells[low][0]:.1f} %)

![Margin by region and category](margin.png)

## Sub-categories with a loss

|Sub-category|   Sales|   Profit|
|:--|--:|--:|
"""
for name, (sales, profit) in sorted(kinds.items(), key=lambda item: item[1][1]):
    if profit < 0:
        text += f"|{name}|{sales:10.2f}|{profit:10.2f}|\n"
text += f"\n## Discounts of 30 % and more\n\nOrder lines: {len(high)}\n\nProfit: {sum(high):.2f}\n"
open("/home/user/project/report.md", "w").write(text)

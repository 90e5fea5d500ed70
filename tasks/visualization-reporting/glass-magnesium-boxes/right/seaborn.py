# seaborn, in the order of a list
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

glass = pd.read_csv("/home/user/project/glass.csv").query("Mg != 0")
glass["type"] = glass["type"].replace(
    dict(WinF="float window", WinNF="other window", Veh="car window", Con="container", Tabl="tableware", Head="headlamp")
)
glass = glass[glass.groupby("type")["Mg"].transform("count") >= 7]
medians = glass.groupby("type")["Mg"].median().sort_values()[::-1]
with open("/home/user/project/magnesium.csv", "w") as file:
    print("samples,type,low,median", file=file)
    for name, value in medians.items():
        own = glass.loc[glass["type"] == name, "Mg"]
        print(len(own), f'"{name}"', f"{own.min():.4f}", f"{value:.4f}", sep=",", file=file)
plt.figure(figsize=(9, 7))
axes = sns.boxplot(glass, x="type", y="Mg", order=list(medians.index))
axes.set_title("Magnesium in glass")
axes.set_xlabel("Type of glass")
axes.set_ylabel("Magnesium oxide (% by weight)")
plt.savefig("/home/user/project/magnesium.png")

import pandas as pd
from sklearn.metrics import precision_recall_fscore_support

SPECIES = ["Adelie", "Chinstrap", "Gentoo"]
LATIN = {"pygoscelis adeliae": "Adelie", "pygoscelis antarctica": "Chinstrap", "pygoscelis papua": "Gentoo"}
NAMES = LATIN | {name.lower(): name for name in SPECIES}

birds = pd.read_csv("truth.csv", index_col="bird")
birds["truth"] = birds["species"].str.split().str[0]

predictions = pd.read_csv("predictions.csv").drop_duplicates("bird", keep="last").set_index("bird")
plain = predictions["label"].str.lower().str.replace("penguin", "").str.strip()
birds["label"] = plain.map(NAMES).reindex(birds.index).fillna("none")

confusion = pd.crosstab(birds["truth"], birds["label"]).reindex(index=SPECIES, columns=[*SPECIES, "none"], fill_value=0)
confusion.to_csv("confusion.csv")

precision, recall, f1, support = precision_recall_fscore_support(birds["truth"], birds["label"], labels=SPECIES)
report = pd.DataFrame(
    {"species": SPECIES, "support": support, "precision": precision, "recall": recall, "f1": f1},
)
report.round(4).to_csv("report.csv", index=False)

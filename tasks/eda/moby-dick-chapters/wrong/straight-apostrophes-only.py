# only the straight apostrophe is part of a word
import json
import re
from collections import Counter

import pandas as pd

with open("moby_dick.txt", encoding="utf-8") as file:
    text = re.sub(r"^\[Page \d+\]\n", "", file.read(), flags=re.M)
parts = re.split(r"^CHAPTER (\d+)\. (.*)$", text, flags=re.M)[1 + 3 * 135:]
chapters = list(zip(map(int, parts[::3]), parts[1::3], parts[2::3]))
words = [re.findall(r"[^\W\d_]+(?:['][^\W\d_]+)*", body.lower()) for _, _, body in chapters]

table = pd.DataFrame({
    "chapter": [number for number, _, _ in chapters],
    "title": [title.strip().removesuffix(".") for _, title, _ in chapters],
    "words": [len(found) for found in words],
    "distinct": [len(set(found)) for found in words],
    "whale": [sum(word in ("whale", "whales") for word in found) for found in words],
})
table.to_csv("chapters.csv", index=False)

before = Counter(word for found in words[:132] for word in found)
there = Counter(word for found in words[132:] for word in found)
rows = []
for word, count in there.items():
    if count >= 15:
        ratio = count / there.total() / (max(before[word], 1) / before.total())
        rows.append((word, count, before[word], ratio))
rows.sort(key=lambda row: (-row[3], row[0]))
chase = pd.DataFrame(rows[:8], columns=["word", "there", "before", "ratio"])
chase.round({"ratio": 2}).to_csv("chase.csv", index=False)

novel = before + there
summary = {
    "words": novel.total(),
    "distinct": len(novel),
    "once": sum(count == 1 for count in novel.values()),
    "whaleless": int((table["whale"] == 0).sum()),
    "half": int(table.loc[table["words"].cumsum() >= novel.total() / 2, "chapter"].iloc[0]),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)

import csv
import json
import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
HEADING = re.compile(r"CHAPTER (\d+)\. (.*)")
PAGE = re.compile(r"\[Page \d+\]")

titles = {}
texts = {}
with open("moby_dick.txt", encoding="utf-8") as book:
    for line in map(str.strip, book):
        heading = HEADING.fullmatch(line)
        if heading:
            number = int(heading[1])
            titles[number] = heading[2].removesuffix(".")
            texts[number] = []  # a heading of the table of contents is replaced by the one of the chapter
        elif texts and not PAGE.fullmatch(line):
            texts[number].append(line)

counts = {number: Counter(WORD.findall("\n".join(lines).lower())) for number, lines in texts.items()}


def save(name, head, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


rows = [
    (number, titles[number], words.total(), len(words), words["whale"] + words["whales"])
    for number, words in sorted(counts.items())
]
save("chapters.csv", ["chapter", "title", "words", "distinct", "whale"], rows)

there = sum((counts[n] for n in counts if n > 132), Counter())
before = sum(counts.values(), Counter())
scale = before.total() / there.total()
chase = [
    (word, count, before[word], count / max(before[word], 1) * scale) for word, count in there.items() if count >= 15
]
chase.sort(key=lambda row: (-row[3], row[0]))
save("chase.csv", ["word", "there", "before", "ratio"], [(*row[:3], f"{row[3]:.2f}") for row in chase[:8]])

novel = sum(counts.values(), Counter())
so_far = 0
for number, _, words, *_ in rows:
    so_far += words
    if 2 * so_far >= novel.total():
        break
summary = {
    "words": novel.total(),
    "distinct": len(novel),
    "once": sum(count == 1 for count in novel.values()),
    "whaleless": sum(row[4] == 0 for row in rows),
    "half": number,
}
with open("summary.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, indent=2)

# line by line, without regular expressions
import csv
import json
import os
import string

LETTERS = set(string.ascii_letters)
label = {row["file"]: row["label"] for row in csv.DictReader(open("labels.csv"))}
found, lines = {}, {}
for name in sorted(os.listdir("mails")):
    with open(f"mails/{name}", encoding="latin-1", newline="\n") as file:
        text = file.read()
    rows = text.split("\n")
    end = rows.index("") if "" in rows else len(rows)
    hops, subject, inside = 0, None, False
    for row in rows[:end]:
        if row[0] in " \t":
            if inside:
                subject = subject.rstrip(" \t") + " " + row.strip(" \t")
            continue
        key, colon, value = row.partition(":")
        hops += bool(colon) and key.lower() == "received"
        inside = key.lower() == "subject" and subject is None
        if inside:
            subject = value
    subject = (subject or "").strip(" \t")
    letters = [c for c in subject if c in LETTERS]
    caps = sum(c in string.ascii_uppercase for c in letters) / len(letters) if letters else 0
    body = "\n".join(rows[end + 1 :])
    words = "".join(c.lower() if c in LETTERS else " " for c in body).split()
    low = body.lower()
    links = low.count("http://") + low.count("https://")
    money = sum(a == "$" and b in string.digits for a, b in zip(body, body[1:]))
    found[name] = set(words)
    lines[name] = [name, hops, len(subject), caps, len(words), body.count("!"), links, money]
score = {}
for name, kind in label.items():
    for word in found[name]:
        if len(word) > 3:
            score[word] = score.get(word, 0) + (1 if kind == "spam" else -1)
best = sorted((-points, word) for word, points in score.items())[:10]
json.dump({"words": [w for _, w in best], "differences": [-p for p, _ in best]}, open("spam_words.json", "w"))
with open("features.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow("file hops subject_length subject_caps words exclamations links money spam_words".split())
    for name, line in lines.items():
        out.writerow([*line, sum(word in found[name] for _, word in best)])

import csv
import json
import re
from collections import Counter
from pathlib import Path

LETTERS = re.compile("[A-Za-z]+")


def parts(path):
    header, _, body = ("\n" + path.read_bytes().decode("latin-1")).partition("\n\n")
    fields = []
    for line in header[1:].split("\n"):
        if line[:1] in (" ", "\t") and fields:
            fields[-1][1] += "\n" + line
        else:
            name, _, value = line.partition(":")
            fields.append([name.lower(), value])
    return fields, body


mails = {path.name: parts(path) for path in sorted(Path("mails").glob("*.txt"))}
words = {name: [word.lower() for word in LETTERS.findall(body)] for name, (_, body) in mails.items()}

score = Counter()
with open("labels.csv", newline="") as file:
    for line in csv.DictReader(file):
        for word in words[line["file"]]:
            if len(word) >= 4:
                score[word] += 1 if line["label"] == "spam" else -1
best = sorted(score.items(), key=lambda item: (-item[1], item[0]))[:10]
spam_words = {word for word, _ in best}
with open("spam_words.json", "w") as file:
    json.dump({"words": [word for word, _ in best], "differences": [number for _, number in best]}, file, indent=2)


def features(name):
    fields, body = mails[name]
    subject = next((value for field, value in fields if field == "subject"), "")
    subject = re.sub(r"[ \t]*\n[ \t]*", " ", subject).strip(" \t")
    letters = "".join(LETTERS.findall(subject))
    return {
        "file": name,
        "hops": sum(field == "received" for field, _ in fields),
        "subject_length": len(subject),
        "subject_caps": round(sum(letter.isupper() for letter in letters) / len(letters), 3) if letters else 0,
        "words": len(words[name]),
        "exclamations": body.count("!"),
        "links": len(re.findall("https?://", body, re.IGNORECASE)),
        "money": len(re.findall(r"\$[0-9]", body)),
        "spam_words": len(spam_words & set(words[name])),
    }


rows = [features(name) for name in mails]
with open("features.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)

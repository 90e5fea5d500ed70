# subjects are decoded by the email package
import json
import re
from pathlib import Path

import pandas as pd

labels = pd.read_csv("labels.csv").set_index("file")["label"]
mails = {path.name: path.read_bytes().decode("latin-1") for path in sorted(Path("mails").glob("*.txt"))}


def parts(mail):
    header, _, body = mail.partition("\n\n")
    fields = []
    for line in header.split("\n"):
        if line[:1] in (" ", "\t") and fields:
            fields[-1] += "\n" + line
        else:
            fields.append(line)
    return [field.partition(":")[::2] for field in fields], body


def words_of(body):
    return [word.lower() for word in re.findall("[A-Za-z]+", body)]


rows, sets = [], {}
for name, mail in mails.items():
    fields, body = parts(mail)
    subjects = [value for field, value in fields if field.lower() == "subject"]
    import email, email.policy
    subject = re.sub(r"[ \t]*\n[ \t]*", " ", subjects[0]).strip(" \t") if subjects else ""
    try:
        subject = str(email.message_from_string(mail, policy=email.policy.default)["Subject"] or "")
    except Exception:
        pass
    letters = re.findall("[A-Za-z]", subject)
    words = words_of(body)
    sets[name] = set(words)
    rows.append({
        "file": name,
        "hops": sum(field.lower() == "received" for field, _ in fields),
        "subject_length": len(subject),
        "subject_caps": round(sum(c.isupper() for c in letters) / len(letters), 3) if letters else 0,
        "words": len(words),
        "exclamations": body.count("!"),
        "links": len(re.findall("https?://", body, re.I)),
        "money": len(re.findall("[$][0-9]", body)),
    })

difference = {}
for name, label in labels.items():
    for word in sets[name]:
        difference[word] = difference.get(word, 0) + (1 if label == "spam" else -1)
known = [word for word in difference if len(word) >= 4]
ten = sorted(known, key=lambda word: (-difference[word], word))[:10]
with open("spam_words.json", "w") as file:
    json.dump({"words": ten, "differences": [difference[word] for word in ten]}, file)

table = pd.DataFrame(rows)
table["spam_words"] = [len(sets[name] & set(ten)) for name in table["file"]]
table.to_csv("features.csv", index=False)

# no packages, no regular expressions
import csv
import json
import os

os.chdir("/home/user/project")
chapters = []
with open("moby_dick.txt", encoding="utf-8") as file:
    for line in file:
        if line.startswith("CHAPTER ") and line.split()[1].rstrip(".").isdigit():
            number, title = line[8:].strip().split(". ", 1)
            chapters.append((int(number), title[:-1] if title.endswith(".") else title, []))
        elif chapters and not line.startswith("[Page "):
            line = line.lower().strip()
            word = ""
            for at, sign in enumerate(line + " "):
                if sign.isalpha() or (sign in "'’" and word and word[-1].isalpha() and line[at + 1:at + 2].isalpha()):
                    word += sign
                elif word:
                    chapters[-1][2].append(word)
                    word = ""
chapters = chapters[135:]
count = [{}, {}]
with open("chapters.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["title", "chapter", "whale", "distinct", "words"])
    for number, title, words in chapters:
        out.writerow([title, number, words.count("whale") + words.count("whales"), len(set(words)), len(words)])
        for word in words:
            count[number > 132][word] = count[number > 132].get(word, 0) + 1
sums = [sum(c.values()) for c in count]
rows = [(n / sums[1] * sums[0] / count[0].get(w, 1), w) for w, n in count[1].items() if n >= 15]
with open("chase.csv", "w") as file:
    print("word,ratio,before,there", file=file)
    for ratio, w in sorted(rows, key=lambda row: (-row[0], row[1]))[:8]:
        print(w, f"{ratio:.2f}", count[0].get(w, 0), count[1][w], sep=",", file=file)
total = {w: count[0].get(w, 0) + count[1].get(w, 0) for w in {**count[0], **count[1]}}
so_far = 0
for number, _, words in chapters:
    so_far += len(words)
    if 2 * so_far >= sum(sums):
        break
json.dump({"once": list(total.values()).count(1), "distinct": len(total), "words": sum(sums), "half": number,
           "whaleless": sum(not {"whale", "whales"} & set(words) for _, _, words in chapters)}, open("summary.json", "w"))

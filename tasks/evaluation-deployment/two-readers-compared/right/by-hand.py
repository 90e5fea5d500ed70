# plain Python, the p value through the error function, nothing rounded
import csv
import json
import math

P = "/home/user/project/"
truth = {int(r["picture"][1:5]): int(r["digit"]) for r in csv.DictReader(open(P + "truth.csv"))}
old = {int(r["picture"][1:5]): int(r["digit"]) for r in csv.DictReader(open(P + "old.csv"))}
new = {int(r["number"]): int(r["guess"]) for r in csv.DictReader(open(P + "new.csv"), delimiter=";")}
both = truth.keys() & old.keys() & new.keys()
n, b, c, x, y = len(both), 0, 0, 0, 0
for i in both:
    o, w = old[i] == truth[i], new[i] == truth[i]
    x, y, b, c = x + o, y + w, b + (o and not w), c + (w and not o)
s = (abs(b - c) - 1) ** 2 / (b + c)
h = 1.96 * math.sqrt(b + c - (c - b) ** 2 / n) / n
p, d = math.erfc(math.sqrt(s / 2)), (c - b) / n
json.dump(
    dict(replace=p < 0.05 and d > h, n=n, accuracy_old=x / n, accuracy_new=y / n, only_old_right=b, only_new_right=c,
         statistic=s, p_value=p, difference=d, low=d - h, high=d + h),
    open(P + "comparison.json", "w"),
)

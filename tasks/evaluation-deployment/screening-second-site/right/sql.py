# SQLite, with window functions
import json
import sqlite3

import pandas as pd

base = sqlite3.connect(":memory:")
for name in ("biopsies", "scores", "outcomes"):
    pd.read_csv(f"/home/user/project/{name}.csv").to_sql(name, base)
base.executescript("""
create table e as select entry, biopsy, upper(substr(code, 1, 1)) as c, case when entered like '__.__.____'
  then substr(entered, 7) || '-' || substr(entered, 4, 2) || '-' || substr(entered, 1, 2) else entered end as day from outcomes;
create table last as select biopsy, c from
  (select *, row_number() over (partition by biopsy order by day desc, entry desc) as n from e where day <= '2025-06-30') where n = 1;
create table mine as select distinct b.biopsy, upper(substr(trim(site), -1)) as site, c from biopsies b left join last using (biopsy)
  where kind = 'patient';
""")
counts = "select site, count(*), total(c = 'B'), total(c = 'M'), total(c is null or c not in ('B', 'M')) from mine group by site"
for site, count, benign, malignant, without in base.execute(counts).fetchall():
    if min(benign, malignant) >= 10:
        continue
    reason = "no outcome" if benign + malignant == 0 else "few outcomes" if min(benign, malignant) else "one class"
    later = base.execute(
        """select count(distinct biopsy) from mine join e using (biopsy) where day > '2025-06-30' and site = ?
        and coalesce(mine.c, '') not in ('B', 'M')""",
        (site,),
    ).fetchone()[0]
    models = base.execute(
        "select distinct lower(trim(model)) from scores join mine using (biopsy) where site = ? and c in ('B', 'M')", (site,)
    )
    report = {"biopsies": count, "benign": int(benign), "malignant": int(malignant), "without_outcome": int(without)}
    report["test_slides"] = base.execute(
        "select count(distinct biopsy) from biopsies where kind = 'test slide' and upper(trim(site)) like '%' || ?", (site,)
    ).fetchone()[0]
    report |= {"later": later, "models": [row[0] for row in models]}
    with open("/home/user/project/problem.json", "w") as file:
        json.dump(report, file)
    print(f"Site {site}: {reason}", file=open("/home/user/project/reply.txt", "w"))

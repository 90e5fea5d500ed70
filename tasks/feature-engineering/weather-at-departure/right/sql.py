# SQLite, with the change of clocks written out
import json
import sqlite3

import pandas as pd

base = sqlite3.connect(":memory:")
for name in ("departures", "weather"):
    pd.read_csv(f"/home/user/project/{name}.csv", dtype=str).to_sql(name, base)
lost = """
with f as (select distinct carrier, flight, airport, dest, scheduled, "left" from departures where "left" is not null),
g as (select airport, substr(scheduled, 1, 13) || ':00' as hour,
  strftime('%Y-%m-%dT%H:00Z', scheduled, case when scheduled < '2023-03-12 02' then '+5 hours' else '+4 hours' end) as z from f)
select * from g where not exists
  (select 1 from weather where valid = z and substr(upper(station), -3) = airport)
"""
table = pd.read_sql(
    f"""select airport, min(hour) first_hour, max(hour) last_hour, count(distinct hour) hours, count(*) departures
    from ({lost}) group by airport order by airport""",
    base,
)
table.to_csv("/home/user/project/lacking.csv", index=False)
total = base.execute(
    'select count(*) from (select distinct carrier, flight, airport, dest, scheduled, "left" from departures where "left" is not null)'
).fetchone()[0]
names = {row[0] for row in base.execute("select distinct airport from departures")}
with open("/home/user/project/lacking.json", "w") as file:
    json.dump(
        {"features": ["gust_kt", "ceiling_ft"], "departures": total, "complete_airports": list(names - set(table["airport"]))},
        file,
    )

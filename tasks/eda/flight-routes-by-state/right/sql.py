# the joins and sums in SQL, other column order, more decimals
import csv
import json
import pathlib
import sqlite3

here = pathlib.Path(__file__).resolve().parent
con = sqlite3.connect(here / "network.db")
con.executescript(
    """
    CREATE TEMP TABLE clean AS
        SELECT upper(trim(origin)) AS a, upper(trim(destination)) AS b, sum(flights) AS n FROM routes GROUP BY 1, 2;
    CREATE TEMP TABLE joined AS
        SELECT x.state AS s, y.state AS t, n FROM clean
        JOIN airports x ON x.iata = a AND x.state != 'NA' JOIN airports y ON y.iata = b AND y.state != 'NA';
    """
)
lines = con.execute(
    """
    SELECT sum(CASE WHEN s = t THEN n ELSE 0 END) * 100.0 / sum(n), s,
           sum(CASE WHEN s = t THEN n ELSE 0 END), (SELECT sum(n) FROM joined k WHERE k.t = joined.s), sum(n) AS d
    FROM joined GROUP BY s ORDER BY d DESC, s
    """
)
with open(here / "states.csv", "w", newline="") as out:
    csv.writer(out).writerows([["percent_within", "state", "within", "arrivals", "departures"], *lines])
one = lambda sql: con.execute(sql).fetchone()  # noqa: E731
(total,), (routes,) = one("SELECT sum(flights) FROM routes"), one("SELECT count(*) FROM clean")
(known,) = one("SELECT sum(n) FROM joined")
pair = one("SELECT min(s, t), max(s, t) FROM joined WHERE s != t GROUP BY 1, 2 ORDER BY sum(n) DESC LIMIT 1")
answer = {"busiest_pair": pair, "routes": routes, "unknown": total - known, "flights": total}
(here / "summary.json").write_text(json.dumps(answer))

import pandas as pd

corrections = {
    "2012-11-19": 45.1,
    "2012-11-30": 3.6,
    "2012-12-19": 0.7,
    "2013-09-28": 34.4,
    "2014-03-05": 0.5,
    "2015-02-05": 0.6,
    "2015-12-08": 51.4,
}
days = pd.read_csv("observations.csv", parse_dates=["date"]).set_index("date")
rain = days["precipitation"].copy()
for day, amount in corrections.items():
    rain.loc[day] = amount

months = rain.groupby(rain.index.strftime("%Y-%m")).sum()
lines = []
for year in range(2012, 2016):
    of_year = rain[rain.index.year == year]
    wet_days = int((of_year >= 1.0).sum())
    of_months = months[months.index.str.startswith(str(year))]
    lines.append((year, round(of_year.sum(), 1), wet_days, of_months.idxmax(), round(of_months.max(), 1)))
columns = ["year", "rain_mm", "wet_days", "wettest_month", "month_mm"]
pd.DataFrame(lines, columns=columns).to_csv("years.csv", index=False)

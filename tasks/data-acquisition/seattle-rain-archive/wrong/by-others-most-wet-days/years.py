import pandas as pd

days = pd.read_csv("observations.csv", parse_dates=["date"])
fixes = pd.read_html("http://data.local:8000/corrections.html")[0]
fixes = fixes[fixes["Station"] == "SEA"]
fixes = fixes.set_index(pd.to_datetime(fixes["Day"]))["Corrected"]
rain = days.set_index("date")["precipitation"]
rain.update(fixes)

lines = []
for year in range(2012, 2016):
    of_year = rain[rain.index.year == year]
    wet_days = (of_year >= 1.0).groupby(of_year.index.strftime("%Y-%m")).sum()
    months = of_year.groupby(of_year.index.strftime("%Y-%m")).sum()
    wet = int((of_year >= 1.0).sum())
    lines.append([year, round(of_year.sum(), 1), wet, wet_days.idxmax(), round(months[wet_days.idxmax()], 1)])
columns = ["year", "rain_mm", "wet_days", "wettest_month", "month_mm"]
pd.DataFrame(lines, columns=columns).to_csv("years.csv", index=False)

# with slashes the day is taken first
import json

import pandas as pd


def parse(texts, times):
    found = pd.Series(pd.NaT, index=texts.index)
    for day, time in [("%Y-%m-%d", "%H:%M"), ("%d/%m/%Y", "%I:%M %p"), ("%m/%d/%Y", "%I:%M %p"), ("%d.%m.%Y", "%H:%M"), ("%d %b %Y", "%H:%M")]:
        form = f"{day} {time}" if times else day
        found = found.fillna(pd.to_datetime(texts, format=form, errors="coerce"))
    return found


flights = pd.read_csv("departures.csv")
flights["moment"] = parse(flights["departed"], True)
flights = flights.sort_values(["moment", "flight"])
holidays = parse(pd.read_csv("holidays.csv")["date"], False).drop_duplicates().sort_values()
day = flights["moment"].dt.normalize()


def free(days):
    return (days.dt.dayofweek >= 5) | days.isin(holidays)


def days_to(when):
    later = holidays[holidays >= when]
    return (later.min() - when).days if len(later) else None


def days_from(when):
    earlier = holidays[holidays <= when]
    return (when - earlier.max()).days if len(earlier) else None


one = pd.Timedelta(days=1)
flights["date"] = day.dt.strftime("%Y-%m-%d")
flights["weekday"] = day.dt.dayofweek + 1
flights["weekend"] = (day.dt.dayofweek >= 5).astype(int)
flights["holiday"] = day.isin(holidays).astype(int)
flights["day_part"] = (flights["moment"].dt.hour // 6).map({0: "night", 1: "morning", 2: "afternoon", 3: "evening"})
flights["to_holiday"] = day.map(days_to).astype("Int64")
flights["from_holiday"] = day.map(days_from).astype("Int64")
flights["bridge"] = (~free(day) & free(day - one) & free(day + one)).astype(int)
columns = ["flight", "date", "weekday", "weekend", "holiday", "day_part", "to_holiday", "from_holiday", "bridge"]
flights[columns].to_csv("features.csv", index=False)

nearest = flights[["to_holiday", "from_holiday"]].min(axis=1)
summary = {
    "holiday": round(flights[nearest == 0]["delay"].mean(), 2),
    "near": round(flights[nearest.between(1, 3)]["delay"].mean(), 2),
    "other": round(flights[nearest > 3]["delay"].mean(), 2),
    "bridge_flights": int(flights["bridge"].sum()),
}
with open("delays.json", "w") as file:
    json.dump(summary, file)

"""Cuts the year down to ten days, writes both tables as CSV, and takes hours of weather out."""

import pandas as pd

FROM, TO = 8, 17  # of March
GAPS = (
    ("LGA", "2023-03-11 22:00", "2023-03-14 15:00"),
    ("JFK", "2023-03-16 12:00", "2023-03-16 16:00"),
    ("JFK", "2023-03-09 08:00", "2023-03-09 08:00"),
    ("EWR", "2023-03-13 06:00", "2023-03-13 07:00"),
)


def main() -> None:
    """Write departures.csv, weather.csv and weather_filled.csv."""
    flights = pd.read_parquet("flights.parquet")
    departures(flights[(flights["month"] == 3) & flights["day"].between(FROM, TO)]).to_csv(
        "departures.csv", index=False
    )
    hours = weather(pd.read_parquet("weather.parquet"))
    lost = gone(hours)
    written(hours[~lost]).to_csv("weather.csv", index=False)
    near = hours["valid"].map(hours[hours["station"] == "EWR"].set_index("valid")["tmp"])
    written(hours.assign(tmp=hours["tmp"].where(~lost, near), gst=hours["spd"] * 1.5)).to_csv(
        "weather_filled.csv", index=False
    )


def departures(flights: pd.DataFrame) -> pd.DataFrame:
    """Give the flights with times as texts; each 97th line is there twice."""
    day = flights[["year", "month", "day", "hour", "minute"]]
    clock = flights["dep_time"].map(lambda time: "" if pd.isna(time) else f"{int(time) // 100:02}:{int(time) % 100:02}")
    table = flights[["carrier", "flight", "origin", "dest"]].rename(columns={"origin": "airport"})
    table = table.assign(scheduled=pd.to_datetime(day).dt.strftime("%Y-%m-%d %H:%M"), left=clock)
    return pd.concat([table, table.iloc[::97]]).sort_values(["scheduled", "carrier", "flight"], kind="stable")


def weather(hours: pd.DataFrame) -> pd.DataFrame:
    """Give the hours of the ten days in UTC; the hours of the source are EST."""
    hours = hours[(hours["month"] == 3) & hours["day"].between(FROM, TO)]
    valid = pd.to_datetime(hours[["year", "month", "day", "hour"]]) + pd.Timedelta(hours=5)
    names = {"temp": "tmp", "dewp": "dew", "wind_speed": "spd", "wind_gust": "gst", "precip": "p01", "visib": "vis"}
    table = hours[["origin", *names, "pressure"]].rename(columns={"origin": "station", **names, "pressure": "slp"})
    table.insert(1, "valid", valid)
    table["gst"] = table.groupby(["station", valid.dt.date])["gst"].transform("max")
    return table.round({"spd": 1, "gst": 1}).sort_values(["valid", "station"], ignore_index=True)


def gone(hours: pd.DataFrame) -> pd.Series:
    """Find the hours that are in a gap."""
    lost = pd.Series(False, hours.index)
    for station, first, last in GAPS:
        lost |= (hours["station"] == station) & hours["valid"].between(pd.Timestamp(first), pd.Timestamp(last))
    return lost


def written(hours: pd.DataFrame) -> pd.DataFrame:
    """Give the hours as the stations write them, each 53rd twice."""
    table = hours.reset_index(drop=True)
    late = table["valid"] >= pd.Timestamp("2023-03-14 18:00")
    names = table["station"].where(late, "K" + table["station"])
    table["station"] = names.where(table.index % 11 != 4, names.str.lower())
    table["valid"] = table["valid"].dt.strftime("%Y-%m-%dT%H:%MZ")
    return pd.concat([table, table.iloc[::53]]).sort_index(kind="stable")


main()

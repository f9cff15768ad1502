"""Writes a table of weather stations as CSV, reads it back and makes summaries per station and month.

Main loop: over the rows of the file, in functions called from `main()`.
"""
# nothing to gain: parsing of text, dicts and string formatting

import csv
import os
import tempfile
from collections import Counter, defaultdict
from datetime import date, timedelta

import numpy as np

NAMES = ["Aachen", "Bern", "Calais", "Delft", "Essen", "Fulda", "Gent", "Husum", "Ivrea", "Jena"]


def write_table(path, days):
    rng = np.random.default_rng(0)
    start = date(2001, 1, 1)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["station", "date", "temperature", "rain", "remark"])
        for d in range(days):
            day = start + timedelta(days=d)
            season = -8 * np.cos(2 * np.pi * day.timetuple().tm_yday / 365.25)
            for i, name in enumerate(NAMES):
                temperature = 9 + season + 0.5 * i + 3 * rng.standard_normal()
                rain = max(0.0, rng.exponential(3.0) - 3)
                remark = "frost" if temperature < 0 else ("wet" if rain > 5 else "")
                if rng.random() < 0.01:
                    writer.writerow([name, day.isoformat(), "", "", "missing"])
                else:
                    writer.writerow([name, day.isoformat(), f"{temperature:.1f}", f"{rain:.1f}", remark])


def read_table(path):
    rows = []
    skipped = 0
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            try:
                row["temperature"] = float(row["temperature"])
                row["rain"] = float(row["rain"])
            except ValueError:
                skipped += 1
                continue
            year, month, _ = row["date"].split("-")
            row["year"], row["month"] = int(year), int(month)
            rows.append(row)
    return rows, skipped


def by_month(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row["station"], row["month"]].append(row["temperature"])
    return groups


def longest_dry_spell(rows, station):
    best = current = 0
    for row in rows:
        if row["station"] != station:
            continue
        current = current + 1 if row["rain"] == 0.0 else 0
        best = max(best, current)
    return best


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stations.csv")
        write_table(path, 25000)
        print("file:", os.path.getsize(path) // 1000, "kB")
        rows, skipped = read_table(path)
    print("rows:", len(rows), "skipped:", skipped)

    groups = by_month(rows)
    for name in NAMES[:4]:
        line = ["%5.1f" % np.mean(groups[name, month]) for month in range(1, 13)]
        print(f"{name:8s}", " ".join(line))

    remarks = Counter(row["remark"] or "none" for row in rows)
    print("remarks:", dict(sorted(remarks.items())))
    print("dry spells:", {name: longest_dry_spell(rows, name) for name in NAMES})

    years = defaultdict(float)
    for row in rows:
        years[row["year"]] += row["rain"]
    wettest = max(years, key=lambda year: years[year])
    print("wettest year:", wettest, "%.0f mm" % (years[wettest] / len(NAMES)))


if __name__ == "__main__":
    main()

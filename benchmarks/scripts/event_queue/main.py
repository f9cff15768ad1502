"""A hospital's emergency room as a queue of events: arrivals, triage, doctors and beds.

Main loop: `while` there are events, in the method `run` of the class `Clinic` of the module beside this one.
"""
# nothing to gain: objects, heaps and small dicts; NumPy draws one number at a time

import numpy as np

from clinic import Clinic
from statistics_of_waiting import Summary


def scenario(name, doctors, beds, days, seed):
    clinic = Clinic(doctors=doctors, beds=beds, rng=np.random.default_rng(seed))
    clinic.run(until=days * 24 * 60)
    summary = Summary(clinic.finished)
    print(f"{name}: {len(clinic.finished)} patients, {clinic.turned_away} turned away, {clinic.events} events")
    for level in sorted(summary.groups):
        mean, p90 = summary.waiting(level)
        print(f"   urgency {level}: mean wait {mean:6.1f} min, nine in ten below {p90:6.1f} min")
    return summary


def main():
    results = {}
    for name, doctors, beds in [("as it is", 4, 14), ("one doctor more", 5, 14), ("more beds", 4, 20)]:
        results[name] = scenario(name, doctors, beds, days=500, seed=0)
    best = min(results, key=lambda name: results[name].overall())
    print("shortest waits:", best)
    print("busiest hour:", results["as it is"].busiest_hour())


if __name__ == "__main__":
    main()

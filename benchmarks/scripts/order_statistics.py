"""Ranks, quantiles and group medians of a large catalogue of events by sorting.

Main loop: over bootstrap samples in `main()`.
"""
# nothing to gain: sorting, searching and drawing with replacement in large arrays

import numpy as np


def ranks(values):
    order = np.argsort(values, kind="stable")
    result = np.empty(len(values), dtype=int)
    result[order] = np.arange(len(values))
    return result


def group_medians(groups, values):
    order = np.lexsort((values, groups))
    groups, values = groups[order], values[order]
    names, first, counts = np.unique(groups, return_index=True, return_counts=True)
    return names, values[first + counts // 2]


def pair_events(times_a, times_b, window):
    """How many events of the first catalogue have one of the second within the window."""
    where = np.searchsorted(times_b, times_a)
    where = np.clip(where, 1, len(times_b) - 1)
    gap = np.minimum(np.abs(times_a - times_b[where - 1]), np.abs(times_a - times_b[where]))
    return np.count_nonzero(gap < window)


def main():
    rng = np.random.default_rng(0)
    n = 1000000
    magnitude = rng.exponential(0.9, n) + 1
    depth = rng.gamma(2.0, 12.0, n) + 2 * magnitude
    region = rng.integers(0, 300, n)
    times = np.sort(rng.uniform(0, 3650, n))
    other = np.sort(rng.uniform(0, 3650, n // 3))

    rho = np.corrcoef(ranks(magnitude), ranks(depth))[0, 1]
    print("rank correlation of magnitude and depth: %.3f" % rho)
    print("paired within a minute: %d" % pair_events(times, other, 1 / 1440))

    names, medians = group_medians(region, depth)
    print("regions:", len(names), "medians from %.2f to %.2f" % (medians.min(), medians.max()))

    estimates = []
    for sample in range(40):
        drawn = rng.choice(magnitude, n)
        estimates.append(np.quantile(drawn, [0.5, 0.9, 0.99, 0.999]))
        if sample % 10 == 9:
            print("%d samples: median of magnitudes %.3f" % (sample + 1, np.median([e[0] for e in estimates])))
    estimates = np.array(estimates)
    for q, mean, deviation in zip([0.5, 0.9, 0.99, 0.999], estimates.mean(axis=0), estimates.std(axis=0)):
        print("quantile %5.3f: %.3f +- %.4f" % (q, mean, deviation))

    strongest = np.sort(magnitude)[::-1][:5]
    print("strongest:", np.round(strongest, 2))


if __name__ == "__main__":
    main()

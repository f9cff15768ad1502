"""Loops of NumPy code that runtime/staged_operators/test_unknown_lengths.py calls with unknown lengths."""

import numpy as np


def running_mean(x, k=3):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[max(0, i - k) : i + 1].mean(axis=0)
    return y


def weighted_positive(x):
    n = x.shape[0]
    total = 0.0
    for i in range(n):
        if x[i, 0] > 0:
            total += x[i, 0] * i
    return total


def row_norms(x):
    norms = np.empty(x.shape[0])
    for i, row in enumerate(x):
        norms[i] = np.sqrt((row**2).sum())
    return norms


def sum_of_rows(x):
    total = np.zeros(x.shape[1])
    for row in x:
        total += row
    return total


def pairwise(x):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            d[i, j] = np.abs(x[i] - x[j]).sum()
            d[j, i] = d[i, j]
    return d


def backwards(x):
    y = np.array(x)
    for i in range(len(x) - 2, -1, -1):
        y[i] += 0.5 * y[i + 1]
    return y


def first_above(x, limit=4.0):
    for i in range(x.shape[0]):
        if x[i, 0] > limit:
            return i
    return -1


def dot_of_columns(x):
    total = 0.0
    for a, b in zip(x[:, 0], x[1:, 1]):
        total += a * b
    return total


def horner(x, at=0.5):
    value = 0.0
    for c in reversed(x[:, 0]):
        value = value * at + c
    return value


def bisected(x):
    low, high = 0, len(x) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle, 0] > 3:
            high = middle
        else:
            low = middle
    return low


def shortest(x):
    y = x.ravel()
    best = y[0]
    for i in range(1, min(len(y), 100)):
        if np.abs(y[i]) < np.abs(best):
            best = y[i]
    return best


def widest(x):
    kinds = max([("rows", range(3)), ("columns", range(4))], key=lambda pair: len(pair[1]))
    y = np.zeros(len(x))
    if isinstance(kinds[1], range) and not isinstance(x, (range, zip)):
        for i in range(len(x)):
            y[i] = x[i].max() - x[i].min() + len(kinds[1])
    return y

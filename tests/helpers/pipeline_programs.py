"""NumPy functions for the stages of a `tf.data` pipeline."""

from __future__ import annotations

import numpy as np

SCALE = np.array([1.0, 10.0, 100.0])


def scaled(x):
    return (x - x.mean(axis=-1, keepdims=True)) * SCALE


def augmented(x, y):
    flipped = x[..., ::-1]
    return np.concatenate([x, flipped], axis=-1), np.eye(4)[y]


def fields(record):
    return {"x": np.sqrt(np.abs(record["x"])), "n": record["n"] + 1}


def newton(x):
    y = np.ones_like(x)
    for _ in range(20):
        y = 0.5 * (y + np.abs(x) / y)
    return y


def smoothed(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[max(i - 1, 0) : i + 1].mean()
    return out


def branched(x):
    if np.sum(x) > 0:
        y = x * 2
    else:
        y = -x
    return y


def in_place(x):
    x[..., 0] = 0.0
    return x


def clipped(x):
    return np.clip(np.round(x, 1), -1, 1).astype(np.float32)


def is_large(x):
    return np.abs(x).max() > 1.5


def is_even(n):
    return n % 2 == 0


def total(state, x):
    return state + x.sum()


def moments(state, x):
    n, mean, m2 = state
    n = n + 1
    delta = x[0] - mean
    mean = mean + delta / n
    return n, mean, m2 + delta * (x[0] - mean)


def batch_statistics(x):
    return x.mean(axis=0), x.std(axis=0)

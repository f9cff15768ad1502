"""Autocovariance of a series up to a greatest lag, and its first zero."""


def kernel(series, out):
    n = len(series)
    centred = series - series.mean()
    for lag in range(len(out)):
        out[lag] = (centred[: n - lag] * centred[lag:]).sum() / n
    zero = 0
    while zero < len(out) and out[zero] > 0.0:
        zero += 1
    return out, zero

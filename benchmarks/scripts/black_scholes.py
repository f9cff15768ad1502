"""Prices of European, Asian and barrier options by Monte Carlo, against the formula of Black and Scholes.

Main loop: over batches of paths and over days in `main()`.
"""

from math import erf, exp, log, sqrt

import numpy as np


def norm_cdf(x):
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))


def black_scholes_call(S0, K, T, r, sigma):
    d1 = (log(S0 / K) + (r + 0.5 * sigma**2) * T) / (sigma * sqrt(T))
    d2 = d1 - sigma * sqrt(T)
    return S0 * norm_cdf(d1) - K * exp(-r * T) * norm_cdf(d2)


def step_prices(S, z, r, sigma, dt):
    """One day of geometric Brownian motion."""
    return S * np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)


def simulate_batch(n_paths, n_days, S0, K, barrier, r, sigma, dt):
    S = np.full(n_paths, S0)
    total = np.zeros(n_paths)
    log_total = np.zeros(n_paths)
    alive = np.ones(n_paths, dtype=bool)
    lowest = np.full(n_paths, S0)
    for day in range(n_days):
        z = np.random.standard_normal(n_paths)
        # the volatility smiles a little
        local = sigma * (1 + 0.1 * (np.log(S / S0)) ** 2)
        S = step_prices(S, z, r, local, dt)
        total += S
        log_total += np.log(S)
        alive &= S < barrier
        lowest = np.minimum(lowest, S)
    european = np.maximum(S - K, 0)
    asian = np.maximum(total / n_days - K, 0)
    geometric = np.maximum(np.exp(log_total / n_days) - K, 0)
    knock_out = np.where(alive, european, 0.0)
    lookback = S - lowest
    return european, asian, geometric, knock_out, lookback


def main():
    S0, K, T, r, sigma = 100.0, 105.0, 1.0, 0.03, 0.2
    barrier = 140.0
    n_days = 252
    n_batches = 24
    n_paths = 40000
    dt = T / n_days

    np.random.seed(0)
    names = ["european", "asian", "geometric", "knock-out", "lookback"]
    sums = np.zeros(len(names))
    squares = np.zeros(len(names))

    print("formula: %.3f" % black_scholes_call(S0, K, T, r, sigma))
    for batch in range(n_batches):
        payoffs = simulate_batch(n_paths, n_days, S0, K, barrier, r, sigma, dt)
        for i, payoff in enumerate(payoffs):
            sums[i] += payoff.sum()
            squares[i] += (payoff**2).sum()
        if batch % 4 == 3:
            done = (batch + 1) * n_paths
            print("%7d paths: european %.3f" % (done, exp(-r * T) * sums[0] / done))

    n = n_batches * n_paths
    for i, name in enumerate(names):
        mean = sums[i] / n
        error = np.sqrt((squares[i] / n - mean**2) / n)
        print("%-10s %8.3f +- %.3f" % (name, exp(-r * T) * mean, exp(-r * T) * error))


if __name__ == "__main__":
    main()

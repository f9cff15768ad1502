"""Price of an option on the mean of a random path (Monte Carlo)."""

import numpy as np

SIZE = 60
SMALL = 4


def initialise(size):
    return size, 5, 100.0, 105.0, 0.03, 0.25


def kernel(steps, seed, spot, strike, rate, volatility):
    rng = np.random.default_rng(seed)
    dt = 1.0 / steps
    price = np.full(20000, spot)
    total = np.zeros(20000)
    for _ in range(steps):
        z = rng.standard_normal(20000)
        price = price * np.exp((rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * z)
        total += price
    payoff = np.maximum(total / steps - strike, 0.0)
    return np.exp(-rate) * payoff.mean(), payoff.std()

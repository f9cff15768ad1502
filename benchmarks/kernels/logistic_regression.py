"""Logistic regression by gradient descent with momentum, as a class."""

import numpy as np

SIZE = 2000
SMALL = 20


def initialise(size):
    rng = np.random.default_rng(68)
    x = rng.standard_normal((size, 30))
    return x, (x @ rng.standard_normal(30) > 0).astype(np.float64), 200


class Model:
    def __init__(self, features):
        self.weights = np.zeros(features)
        self.momentum = np.zeros(features)
        self.bias = 0.0

    def probabilities(self, x):
        return 1.0 / (1.0 + np.exp(-(x @ self.weights + self.bias)))

    def fit(self, x, y, rounds):
        for _ in range(rounds):
            error = self.probabilities(x) - y
            self.momentum = 0.9 * self.momentum + x.T @ error / len(y)
            self.weights = self.weights - 0.2 * self.momentum
            self.bias = self.bias - 0.2 * error.mean()


def kernel(x, y, rounds):
    model = Model(x.shape[1])
    model.fit(x, y, rounds)
    return model.weights, model.bias, np.mean((model.probabilities(x) > 0.5) == (y > 0.5))

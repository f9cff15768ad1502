"""A cell of a long short-term memory with the gates in Keras' order."""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell(x, h, c, kernel, recurrent, bias):
    z = x @ kernel + h @ recurrent + bias
    i, f, g, o = np.split(z, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def layer(xs, h, c, kernel, recurrent, bias):
    for x in xs:
        h, c = cell(x, h, c, kernel, recurrent, bias)
    return h, c

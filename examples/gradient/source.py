"""A network with one hidden layer: the loss, and its gradient written by hand."""

import numpy as np


def loss(params, x, labels):
    w1, b1, w2, b2 = params
    scores = np.tanh(x @ w1 + b1) @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    chances = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
    return -np.mean(np.log(chances[np.arange(len(x)), labels]))


def gradient(params, x, labels):
    w1, b1, w2, b2 = params
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    error = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    error /= np.sum(error, axis=1, keepdims=True)
    error[np.arange(len(x)), labels] -= 1
    error /= len(x)
    behind = (error @ w2.T) * (1 - hidden**2)
    return x.T @ behind, np.sum(behind, axis=0), hidden.T @ error, np.sum(error, axis=0)


def initial(rng, inputs, hidden, classes):
    w1 = rng.normal(size=(inputs, hidden)) / np.sqrt(inputs)
    w2 = rng.normal(size=(hidden, classes)) / np.sqrt(hidden)
    return w1, np.zeros(hidden), w2, np.zeros(classes)

"""Layers with forward and backward passes."""

import numpy as np


class Dense:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.standard_normal((n_in, n_out)) * np.sqrt(2.0 / n_in)
        self.b = np.zeros(n_out)
        self.dw = np.zeros_like(self.w)
        self.db = np.zeros_like(self.b)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, grad):
        self.dw = self.x.T @ grad
        self.db = grad.sum(axis=0)
        return grad @ self.w.T


class ReLU:
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class SoftmaxCrossEntropy:
    def forward(self, scores, labels):
        shifted = scores - scores.max(axis=1, keepdims=True)
        p = np.exp(shifted)
        p /= p.sum(axis=1, keepdims=True)
        self.p = p
        self.labels = labels
        return -np.mean(np.log(p[np.arange(len(labels)), labels] + 1e-12))

    def backward(self):
        grad = self.p.copy()
        grad[np.arange(len(self.labels)), self.labels] -= 1
        return grad / len(self.labels)


class Network:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return grad

    def parameters(self):
        found = []
        for layer in self.layers:
            if isinstance(layer, Dense):
                found += [layer.w, layer.b]
        return found

    def gradients(self):
        found = []
        for layer in self.layers:
            if isinstance(layer, Dense):
                found += [layer.dw, layer.db]
        return found

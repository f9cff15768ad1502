"""Gradient descent with momentum; the parameters are changed in place."""

import numpy as np


class Momentum:
    def __init__(self, parameters, rate, momentum, decay=1e-4):
        self.parameters = parameters
        self.rate = rate
        self.momentum = momentum
        self.decay = decay
        self.velocities = [np.zeros_like(p) for p in parameters]

    def step(self, gradients):
        for p, v, g in zip(self.parameters, self.velocities, gradients):
            v *= self.momentum
            v -= self.rate * (g + self.decay * p)
            p += v

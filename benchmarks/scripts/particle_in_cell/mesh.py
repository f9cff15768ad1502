"""The mesh: weights of particles on it, and finite differences as dense matrices."""

import numpy as np


class Mesh:
    def __init__(self, n, box):
        self.n = n
        self.box = box
        self.dx = box / n
        self.gradient = self.gradient_matrix()
        self.laplacian = self.laplacian_matrix()

    def weights(self, pos):
        """The cells on both sides of each particle and the linear weights."""
        j = np.floor(pos / self.dx).astype(int)
        jp1 = j + 1
        weight_j = (jp1 * self.dx - pos) / self.dx
        weight_jp1 = (pos - j * self.dx) / self.dx
        jp1 = np.mod(jp1, self.n)
        return j, jp1, weight_j, weight_jp1

    def density(self, pos, n0):
        j, jp1, weight_j, weight_jp1 = self.weights(pos)
        n = np.bincount(j[:, 0], weights=weight_j[:, 0], minlength=self.n)
        n += np.bincount(jp1[:, 0], weights=weight_jp1[:, 0], minlength=self.n)
        n *= n0 * self.box / pos.shape[0] / self.dx
        return n

    def gradient_matrix(self):
        G = np.zeros((self.n, self.n))
        for i in range(self.n):
            G[i, (i + 1) % self.n] = 1 / (2 * self.dx)
            G[i, (i - 1) % self.n] = -1 / (2 * self.dx)
        return G

    def laplacian_matrix(self):
        L = np.zeros((self.n, self.n))
        for i in range(self.n):
            L[i, i] = -2 / self.dx**2
            L[i, (i + 1) % self.n] = 1 / self.dx**2
            L[i, (i - 1) % self.n] = 1 / self.dx**2
        return L

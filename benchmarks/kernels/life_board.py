"""Conway's game on a torus, as a class."""

import numpy as np

SIZE = 256
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(61)
    return (rng.random((size, size)) < 0.3).astype(np.int64), 60


class Board:
    def __init__(self, cells):
        self.cells = cells
        self.generation = 0
        self.alive = np.zeros(0)

    def neighbours(self):
        rows = np.roll(self.cells, 1, axis=0) + self.cells + np.roll(self.cells, -1, axis=0)
        return np.roll(rows, 1, axis=1) + rows + np.roll(rows, -1, axis=1) - self.cells

    def step(self):
        count = self.neighbours()
        self.cells = ((count == 3) | ((self.cells == 1) & (count == 2))).astype(np.int64)
        self.generation += 1

    def run(self, steps):
        self.alive = np.zeros(steps, dtype=np.int64)
        for k in range(steps):
            self.step()
            self.alive[k] = self.cells.sum()


def kernel(cells, steps):
    board = Board(cells)
    board.run(steps)
    return board.cells, board.alive, board.generation

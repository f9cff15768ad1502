"""Conway's Game of Life on a torus, with a search for still parts and a glider gun put into random soup.

Main loop: in the method `run` of a class, with counts printed now and then.
"""

import numpy as np

GUN = [
    "........................O...........",
    "......................O.O...........",
    "............OO......OO............OO",
    "...........O...O....OO............OO",
    "OO........O.....O...OO..............",
    "OO........O...O.OO....O.O...........",
    "..........O.....O.......O...........",
    "...........O...O....................",
    "............OO......................",
]


class Life:
    def __init__(self, rows, cols, density=0.25, seed=0):
        self.rng = np.random.default_rng(seed)
        self.grid = (self.rng.random((rows, cols)) < density).astype(np.int64)
        self.age = np.zeros((rows, cols), dtype=np.int64)
        self.generation = 0
        self.history = []

    def put(self, pattern, row, col):
        cells = np.array([[1 if c == "O" else 0 for c in line] for line in pattern])
        h, w = cells.shape
        self.grid[row : row + h, col : col + w] = cells

    def neighbours(self):
        total = np.zeros_like(self.grid)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di == 0 and dj == 0:
                    continue
                total += np.roll(np.roll(self.grid, di, axis=0), dj, axis=1)
        return total

    def step(self):
        n = self.neighbours()
        born = (self.grid == 0) & (n == 3)
        stays = (self.grid == 1) & ((n == 2) | (n == 3))
        new = np.zeros_like(self.grid)
        new[born | stays] = 1
        self.age = np.where(new == self.grid, self.age + 1, 0)
        self.grid = new
        self.generation += 1

    def run(self, generations, every):
        for g in range(generations):
            self.step()
            alive = int(self.grid.sum())
            self.history.append(alive)
            if g % every == 0:
                print(f"generation {self.generation:5d}: {alive:6d} alive, {np.mean(self.age > 20):.3f} quiet")

    def show(self, row, col, height, width):
        for i in range(row, row + height):
            print("".join("#" if self.grid[i, j] else "." for j in range(col, col + width)))


if __name__ == "__main__":
    life = Life(300, 400)
    life.grid[:60, :80] = 0
    life.put(GUN, 10, 10)
    life.run(2200, 200)
    life.show(0, 0, 20, 60)
    history = np.array(life.history)
    print("fewest:", history.min(), "most:", history.max())
    print("oldest living cell:", life.age[life.grid == 1].max())
    rows = life.grid.sum(axis=1)
    print("rows without life:", int((rows == 0).sum()))

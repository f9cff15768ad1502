"""Counts the solutions of the n-queens puzzle by backtracking, and sorts random lists by hand.

Main loop: recursion and pure Python loops, called at module level.
"""
# nothing to gain: recursion, lists and sets of Python; NumPy only makes the input

import numpy as np


class Board:
    """A board with one queen per row."""

    def __init__(self, n):
        self.n = n
        self.columns = set()
        self.up = set()
        self.down = set()
        self.queens = []
        self.solutions = 0
        self.first = None
        self.tried = 0

    def place(self, row):
        if row == self.n:
            self.solutions += 1
            if self.first is None:
                self.first = list(self.queens)
            return
        for col in range(self.n):
            self.tried += 1
            if col in self.columns or row + col in self.up or row - col in self.down:
                continue
            self.columns.add(col)
            self.up.add(row + col)
            self.down.add(row - col)
            self.queens.append(col)
            self.place(row + 1)
            self.queens.pop()
            self.columns.remove(col)
            self.up.remove(row + col)
            self.down.remove(row - col)

    def show(self):
        for col in self.first:
            print(" ".join("Q" if c == col else "." for c in range(self.n)))


def quicksort(items):
    if len(items) <= 1:
        return items
    pivot = items[len(items) // 2]
    less = [v for v in items if v < pivot]
    same = [v for v in items if v == pivot]
    more = [v for v in items if v > pivot]
    return quicksort(less) + same + quicksort(more)


def insertion_sort(items):
    items = list(items)
    moves = 0
    for i in range(1, len(items)):
        value = items[i]
        j = i - 1
        while j >= 0 and items[j] > value:
            items[j + 1] = items[j]
            j -= 1
            moves += 1
        items[j + 1] = value
    return items, moves


for size in range(4, 12):
    board = Board(size)
    board.place(0)
    print(f"{size} queens: {board.solutions} solutions, {board.tried} squares tried")
board.show()

np.random.seed(0)
numbers = np.random.randint(0, 10**6, 200000).tolist()
ordered = quicksort(numbers)
print("quicksort:", ordered[:4], ordered[-3:], ordered == sorted(numbers))

short = numbers[:5000]
ordered, moved = insertion_sort(short)
print("insertion sort:", ordered[:4], "moves:", moved)

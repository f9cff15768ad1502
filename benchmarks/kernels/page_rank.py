"""Ranks of linked pages by power iteration."""


def kernel(links, rank, damping, tolerance):
    n = len(rank)
    change = 1.0
    steps = 0
    while change > tolerance:
        new = damping * (links @ rank) + (1.0 - damping) / n
        new /= new.sum()
        change = abs(new - rank).sum()
        rank = new
        steps += 1
    return rank, steps

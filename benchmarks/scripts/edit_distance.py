"""Edit distances and local alignments between DNA sequences, by dynamic programming over arrays.

Main loop: nested loops over the table in functions, called for pairs of sequences at module level.
"""

import numpy as np

BASES = "ACGT"


def random_sequence(n, rng):
    return "".join(rng.choice(list(BASES), size=n))


def mutate(sequence, rate, rng):
    result = []
    for base in sequence:
        p = rng.random()
        if p < rate / 3:
            continue
        if p < 2 * rate / 3:
            result.append(BASES[rng.integers(4)])
        elif p < rate:
            result.append(base)
            result.append(BASES[rng.integers(4)])
        else:
            result.append(base)
    return "".join(result)


def edit_distance(a, b):
    m, n = len(a), len(b)
    D = np.zeros((m + 1, n + 1), dtype=int)
    for i in range(m + 1):
        D[i, 0] = i
    for j in range(n + 1):
        D[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                D[i, j] = D[i - 1, j - 1]
            else:
                D[i, j] = 1 + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[m, n]


def encode(sequence):
    return np.array([BASES.index(base) for base in sequence])


def smith_waterman(a, b, match=2.0, mismatch=-1.0, gap=-1.5):
    """The best local score, and where the alignment starts and ends in `a`."""
    m, n = len(a), len(b)
    H = np.zeros((m + 1, n + 1))
    move = np.zeros((m + 1, n + 1), dtype=int)
    best = 0.0
    where = (0, 0)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            score = match if a[i - 1] == b[j - 1] else mismatch
            options = [0.0, H[i - 1, j - 1] + score, H[i - 1, j] + gap, H[i, j - 1] + gap]
            k = int(np.argmax(options))
            H[i, j] = options[k]
            move[i, j] = k
            if H[i, j] > best:
                best = H[i, j]
                where = (i, j)
    i, j = where
    end = i
    while move[i, j] != 0:
        if move[i, j] == 1:
            i, j = i - 1, j - 1
        elif move[i, j] == 2:
            i -= 1
        else:
            j -= 1
    return best, i, end


rng = np.random.default_rng(0)
ancestor = random_sequence(600, rng)
family = [mutate(ancestor, rate, rng) for rate in (0.02, 0.05, 0.1, 0.2, 0.3)]
family.append(random_sequence(600, rng))

print("lengths:", [len(s) for s in family])
size = len(family)
distances = np.zeros((size, size), dtype=int)
for p in range(size):
    for q in range(p + 1, size):
        distances[p, q] = distances[q, p] = edit_distance(family[p], family[q])
    print("row", p, "done")
print(distances)

for s in family[:3] + family[-1:]:
    score, start, end = smith_waterman(encode(ancestor[100:400]), encode(s))
    print("local alignment: score %.1f from %d to %d" % (score, start, end))

joined = np.argmin(distances + 10**6 * np.eye(size, dtype=int), axis=1)
print("nearest relative:", joined)

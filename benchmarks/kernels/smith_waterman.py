"""Score of the best local alignment of two sequences."""


def kernel(first, second, scores, match, mismatch, gap):
    best = 0
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            if first[i - 1] == second[j - 1]:
                diagonal = scores[i - 1, j - 1] + match
            else:
                diagonal = scores[i - 1, j - 1] + mismatch
            scores[i, j] = max(0, diagonal, scores[i - 1, j] + gap, scores[i, j - 1] + gap)
            if scores[i, j] > best:
                best = scores[i, j]
    return best

"""The likeliest states of a hidden Markov model (Viterbi)."""


def kernel(start, transition, emission, observed, pointers, path):
    score = start + emission[:, observed[0]]
    for t in range(1, len(observed)):
        candidates = score[:, None] + transition
        pointers[t] = candidates.argmax(axis=0)
        score = candidates.max(axis=0) + emission[:, observed[t]]
    path[-1] = score.argmax()
    for t in range(len(observed) - 1, 0, -1):
        path[t - 1] = pointers[t, path[t]]
    return path, score.max()

"""Toeplitz system with any right-hand side (Levinson)."""


def kernel(r, b, forward, x):
    forward[0] = 1.0 / r[0]
    x[0] = b[0] / r[0]
    for k in range(1, len(r)):
        error = forward[:k] @ r[k:0:-1]
        scale = 1.0 / (1.0 - error * error)
        backward = forward[:k][::-1].copy()
        forward[:k] *= scale
        forward[1 : k + 1] -= error * scale * backward
        x[: k + 1] += (b[k] - r[k:0:-1] @ x[:k]) * forward[: k + 1][::-1]
    return x

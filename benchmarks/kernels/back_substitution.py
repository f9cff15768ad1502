"""Upper triangular system with several right-hand sides."""


def kernel(u, b):
    for i in range(len(b) - 1, -1, -1):
        b[i] = (b[i] - u[i, i + 1 :] @ b[i + 1 :]) / u[i, i]
    return b

"""Covariance matrix, a row and a column of it at a time."""


def kernel(data, cov):
    n, m = data.shape
    data -= data.mean(axis=0)
    for i in range(m):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (n - 1)
    return cov

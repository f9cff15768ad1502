"""Implicit vertical diffusion: tridiagonal systems in all columns of a field at once (Thomas)."""


def kernel(lower, diagonal, upper, field):
    levels = field.shape[2]
    upper[:, :, 0] = upper[:, :, 0] / diagonal[:, :, 0]
    field[:, :, 0] = field[:, :, 0] / diagonal[:, :, 0]
    for k in range(1, levels):
        pivot = diagonal[:, :, k] - lower[:, :, k] * upper[:, :, k - 1]
        upper[:, :, k] = upper[:, :, k] / pivot
        field[:, :, k] = (field[:, :, k] - lower[:, :, k] * field[:, :, k - 1]) / pivot
    for k in range(levels - 2, -1, -1):
        field[:, :, k] -= upper[:, :, k] * field[:, :, k + 1]
    return field

"""Product of a sparse matrix (CSR) and a vector, a slice of the stored values for each row."""


def kernel(starts, columns, values, x, out):
    for i in range(len(out)):
        out[i] = values[starts[i] : starts[i + 1]] @ x[columns[starts[i] : starts[i + 1]]]
    return out

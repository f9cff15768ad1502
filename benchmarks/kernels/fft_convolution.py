"""A picture blurred by Gaussians of several widths, as products of Fourier transforms."""

import numpy as np

SIZE = 360
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(54)
    return rng.random((size, size)), np.array([1.0, 2.0, 4.0, 8.0])


def kernel(picture, widths):
    f = np.fft.fft2(picture)
    fy = np.fft.fftfreq(picture.shape[0])
    fx = np.fft.fftfreq(picture.shape[1])
    squares = fy[:, None] ** 2 + fx[None, :] ** 2
    out = np.zeros((len(widths), *picture.shape))
    for k in range(len(widths)):
        out[k] = np.fft.ifft2(f * np.exp(-2.0 * np.pi**2 * widths[k] ** 2 * squares)).real
    return out

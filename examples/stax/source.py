"""Networks of layers in the style of Stax: a layer is a pair of functions, `init` and `apply`."""

import numpy as np


def Dense(units):
    def init(rng, shape):
        w = rng.normal(size=(shape[-1], units)) / np.sqrt(shape[-1])
        return (*shape[:-1], units), (w, np.zeros(units))

    def apply(params, x):
        w, b = params
        return x @ w + b

    return init, apply


def Conv(channels, size):
    def init(rng, shape):
        batch, height, width, depth = shape
        kernel = rng.normal(size=(size, size, depth, channels)) / np.sqrt(size * size * depth)
        return (batch, height - size + 1, width - size + 1, channels), (kernel, np.zeros(channels))

    def apply(params, x):
        kernel, bias = params
        windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))
        return np.einsum("bhwdij,ijdc->bhwc", windows, kernel, optimize=True) + bias

    return init, apply


def elementwise(function):
    def init(rng, shape):
        return shape, ()

    def apply(params, x):
        return function(x)

    return init, apply


Relu = elementwise(lambda x: np.maximum(x, 0))
Tanh = elementwise(np.tanh)


def AvgPool(size):
    def init(rng, shape):
        batch, height, width, depth = shape
        return (batch, height // size, width // size, depth), ()

    def apply(params, x):
        batch, height, width, depth = x.shape
        return x.reshape(batch, height // size, size, width // size, size, depth).mean(axis=(2, 4))

    return init, apply


Flatten = (
    lambda rng, shape: ((shape[0], int(np.prod(shape[1:]))), ()),
    lambda params, x: x.reshape(len(x), -1),
)


def log_softmax(x):
    x = x - np.max(x, axis=-1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=-1, keepdims=True))


LogSoftmax = elementwise(log_softmax)


def serial(*layers):
    def init(rng, shape):
        params = []
        for one, _ in layers:
            shape, param = one(rng, shape)
            params.append(param)
        return shape, params

    def apply(params, x):
        for (_, one), param in zip(layers, params):
            x = one(param, x)
        return x

    return init, apply


def residual(*layers):
    init, inner = serial(*layers)
    return init, lambda params, x: x + inner(params, x)


init, apply = serial(
    *(Conv(8, 3), Relu, AvgPool(2), Conv(16, 2), Tanh, Flatten),
    *(Dense(32), residual(Dense(32), Tanh), Dense(4), LogSoftmax),
)


def loss(params, images, labels):
    return -np.mean(np.sum(apply(params, images) * labels, axis=-1))


def loss_of_one(params, image, label):
    return loss(params, image[None], label[None])


def images_of(rng, count):
    """Noisy images of lines: horizontal, vertical, and both diagonals."""
    images, labels = 0.3 * rng.normal(size=(count, 12, 12, 1)), rng.integers(0, 4, count)
    for image, label, place in zip(images, labels, rng.integers(-3, 4, count)):
        line = np.eye(12, k=place)
        if label < 2:
            line[:] = 0
            line[6 + place] = 1
        image[:, :, 0] += (line, line.T, line, line[::-1])[label]
    return images, np.eye(4)[labels]

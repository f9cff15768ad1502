"""A small transformer over characters, and Adam."""

import numpy as np

HEADS = 4


def initial(rng, characters, context, width, layers):
    params = {
        "embedding": rng.normal(size=(characters, width)) * 0.1,
        "position": rng.normal(size=(context, width)) * 0.1,
        "scale": np.ones(width),
        "output": rng.normal(size=(width, characters)) / np.sqrt(width),
    }
    for k in range(layers):
        for name, shape in (
            ("qkv", (width, 3 * width)),
            ("join", (width, width)),
            ("up", (width, 4 * width)),
        ):
            params[f"{name}{k}"] = rng.normal(size=shape) / np.sqrt(width)
        params[f"down{k}"] = rng.normal(size=(4 * width, width)) / np.sqrt(4 * width)
        params[f"scale_a{k}"], params[f"scale_b{k}"] = np.ones(width), np.ones(width)
    return params


def count_layers(params):
    return sum(name.startswith("qkv") for name in params)


def normalise(x, scale):
    x = x - np.mean(x, axis=-1, keepdims=True)
    return scale * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def softmax(x):
    x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return x / np.sum(x, axis=-1, keepdims=True)


def attention(x, qkv, join):
    batch, time, width = x.shape
    parts = (x @ qkv).reshape(batch, time, 3, HEADS, width // HEADS)
    q, k, v = np.moveaxis(parts, (2, 3), (0, 2))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(width // HEADS)
    scores[:, :, np.triu(np.ones((time, time), bool), 1)] = -np.inf  # no character sees a later one
    return np.swapaxes(softmax(scores) @ v, 1, 2).reshape(batch, time, width) @ join


def logits(params, tokens):
    x = params["embedding"][tokens] + params["position"][: tokens.shape[1]]
    for k in range(count_layers(params)):
        x = x + attention(normalise(x, params[f"scale_a{k}"]), params[f"qkv{k}"], params[f"join{k}"])
        x = x + np.maximum(normalise(x, params[f"scale_b{k}"]) @ params[f"up{k}"], 0) @ params[f"down{k}"]
    return normalise(x, params["scale"]) @ params["output"]


def loss(params, tokens):
    scores = logits(params, tokens[:, :-1])
    chances = softmax(scores)
    batch, time, _ = chances.shape
    picked = chances[np.arange(batch)[:, None], np.arange(time), tokens[:, 1:]]
    return -np.mean(np.log(picked))


def adam(params, gradient, means, squares, step, rate=0.003):
    for name in params:
        means[name] += 0.1 * (gradient[name] - means[name])
        squares[name] += 0.01 * (gradient[name] ** 2 - squares[name])
        mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.99**step)
        params[name] -= rate * mean / (np.sqrt(square) + 1e-8)


def sample(params, tokens, rng):
    chances = softmax(logits(params, tokens)[0, -1])
    return rng.choice(len(chances), p=chances)

"""Vectors of sentences: object arrays of words, which are arrays of characters."""

import numpy as np


def word_vector(characters, table):
    return np.mean(table[characters], axis=0)


def sentence_vector(words, table):
    total = np.zeros(table.shape[1])
    for characters in words:
        total = total + np.tanh(word_vector(characters, table))
    return total / len(words)


def vectors(sentences, table):
    return np.stack([sentence_vector(words, table) for words in sentences])


def gradient(sentences, table):
    """The derivative of half the sum of the squares of all vectors, by hand."""
    found = np.zeros_like(table)
    for words in sentences:
        upstream = sentence_vector(words, table) / len(words)
        for characters in words:
            slope = upstream * (1 - np.tanh(word_vector(characters, table)) ** 2) / len(characters)
            np.add.at(found, characters, slope)
    return found


def rows(items):
    """An array of arrays of any lengths."""
    found = np.empty(len(items), object)
    found[:] = items
    return found


def text(rng, count):
    """Sentences of 2 to 12 words of 1 to 9 characters."""
    return rows(
        [
            rows([rng.integers(0, 26, rng.integers(1, 10)) for _ in range(rng.integers(2, 13))])
            for _ in range(count)
        ]
    )

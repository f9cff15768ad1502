"""Programs made of lines drawn at random; a seed always gives the same lines."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from tests.helpers.differential import compare


def lines(
    chance: random.Random, choices: Sequence[str], depth: int, words: Mapping[str, object]
) -> list[str]:
    """Return one to three of `choices`, indented.

    Args:
        chance: the random generator.
        choices: lines, or several lines at a time, with words in braces.
        depth: the indentation depth.
        words: a word -> its replacements: a tuple of texts, or a range of numbers.
    """
    made = []
    for _ in range(chance.randint(1, 3)):
        line = chance.choice(choices)
        for word, values in words.items():
            assert isinstance(values, (tuple, range))
            line = line.replace(f"{{{word}}}", str(chance.choice(values)))
        made += line.split("\n")
    return ["    " * depth + line for line in made]


def judge(source: str) -> None:
    """Compare f(x) of a program with NumPy's, for floats and integers."""
    compare(source, "np.arange(6.)", "np.arange(6.) * -3.5", "np.arange(6) * 4", ran=None, number_types=False)

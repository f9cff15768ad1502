"""Draw packages at random from tests/corpus/drawn_from.txt, a list that is older than the first run."""

from __future__ import annotations

import random

from tools.packages.catalogue import ROOT

LIST = ROOT / "tests" / "corpus" / "drawn_from.txt"


def candidates() -> list[str]:
    """Return every package of the list, as `name==version`, sorted."""
    return sorted(line for line in LIST.read_text(encoding="utf-8").split() if line)


def draw(number: int, seed: int) -> list[str]:
    """Return `number` packages in the order of drawing. The same seed gives the same packages."""
    return random.Random(seed).sample(candidates(), number)

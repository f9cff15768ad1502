"""Packages drawn at random from a list that was made before anything was run: tests/corpus/drawn_from.txt."""

from __future__ import annotations

import random

from tools.packages.catalogue import ROOT

LIST = ROOT / "tests" / "corpus" / "drawn_from.txt"


def candidates() -> list[str]:
    """Every package of the list, as `name==version`, sorted."""
    return sorted(line for line in LIST.read_text(encoding="utf-8").split() if line)


def draw(number: int, seed: int) -> list[str]:
    """So many of them, in the order in which they are drawn; the same for everyone with the same seed."""
    return random.Random(seed).sample(candidates(), number)

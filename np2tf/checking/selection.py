"""Which codes are asked for: `--select` and `--ignore`, by prefixes as ruff takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from np2tf.diagnostics import codes

ALL = "ALL"


class UnknownCode(ValueError):
    """A prefix that no code begins with."""


@dataclass(frozen=True)
class Selection:
    """The prefixes that are asked for, and those that are not. The longer prefix decides about a code; of
    two that are as long, the one that ignores."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str]) -> Selection:
        """From what the command line has; UnknownCode where something stands for no code."""
        return cls(_prefixes(select), _prefixes(ignore))

    def __call__(self, code: str) -> bool:
        """Whether findings of a code are shown. Those that say why a file is left alone always are."""
        if codes()[code].severity == "error":
            return True
        chosen = max((len(one) for one in self.select or ("",) if code.startswith(one)), default=-1)
        refused = max((len(one) for one in self.ignore if code.startswith(one)), default=-1)
        return chosen > refused


def _prefixes(given: Iterable[str]) -> tuple[str, ...]:
    words = [word.strip() for text in given for word in text.split(",")]
    return tuple(_prefix(word) for word in words)


def _prefix(word: str) -> str:
    prefix = word.upper()
    if prefix == ALL:
        return ""
    if prefix.startswith("NP2TF") and any(code.startswith(prefix) for code in codes()):
        return prefix
    raise UnknownCode(f"no code begins with {word!r}{suggestion(word)}")


def suggestion(word: str) -> str:
    """`; did you mean NP2TF401?`, for what may be a misspelled code; nothing where that is not clear."""
    digits = re.sub(r"(?i)^\s*(np2tf|np2f|nptf|np|n)?[-_ ]?", "", word)
    known = f"NP2TF{digits}"
    if digits and any(code.startswith(known) for code in codes()):
        return f"; did you mean {known}?"
    return ""

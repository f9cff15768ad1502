"""Find where values stand in a JSON text, to replace a value and leave all else byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Place(NamedTuple):
    """The part of a text that spells a value."""

    start: int
    end: int


def members(text: str, place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the keys of an object, each with the place of its value. Other values have no keys."""
    if text[place.start] != "{":
        return
    at = _after_space(text, place.start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        value = _value(text, at)
        yield key, value
        at = _after_comma(text, value.end)


def elements(text: str, place: Place) -> Iterator[Place]:
    """Yield the places of the elements of an array. Other values have no elements."""
    if text[place.start] != "[":
        return
    at = _after_space(text, place.start + 1)
    while text[at] != "]":
        value = _value(text, at)
        yield value
        at = _after_comma(text, value.end)


def whole(text: str) -> Place:
    """Return the place of the single value of a text.

    Raises:
        ValueError: the text is not JSON.
    """
    json.loads(text)
    return _value(text, _after_space(text, 0))


def spelled_like(old: str, new: str) -> str:
    """Spell a text as JSON, in the form of an earlier value: as one string, or as a list of lines.

    Args:
        old: the JSON of the earlier value.
        new: the text to spell.
    """
    is_ascii = old.isascii() and "\\u" in old
    if not old.startswith("["):
        return json.dumps(new, ensure_ascii=is_ascii)
    lines = new.splitlines(keepends=True) if "\r" not in new else re.findall(r"[^\n]*\n|[^\n]+", new)
    if not lines:
        return "[]"
    places = list(elements(old, Place(0, len(old))))
    first, separator, last = "", ", ", ""
    if places:
        first, last = old[1 : places[0].start], old[places[-1].end : -1]
        separator = old[places[0].end : places[1].start] if len(places) > 1 else "," + (first or " ")
    return f"[{first}{separator.join(json.dumps(line, ensure_ascii=is_ascii) for line in lines)}{last}]"


def _value(text: str, at: int) -> Place:
    _, end = _DECODER.raw_decode(text, at)
    return Place(at, end)


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()

"""Read one configuration file: its values, and the lines in which they stand. Errors name their place."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from np2tf.diagnostics import codes

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

TARGETS = ("np2tf", "tf")
#: In characters. Shorter lines have no room for a call; longer lines are not readable.
_LINE_LENGTHS = range(40, 1001)


class ConfigurationError(ValueError):
    """A configuration cannot be used. The message says which file, where in it, and why."""


@dataclass(frozen=True)
class ConfigurationFile:
    """The values of one configuration file."""

    file: Path
    values: Mapping[str, Any]
    lines: Mapping[str, int]
    """Key -> line, for the keys whose line is known."""


def read(file: Path) -> ConfigurationFile | None:
    """Return the table of a pyproject.toml or np2tf.toml; None for a pyproject.toml without such a table.

    Raises:
        ConfigurationError: the file cannot be read, or has a key or a value that is not allowed.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    is_own_file = file.name != "pyproject.toml"
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if not is_own_file and "np2tf" not in text:
            return None  # the mistake is in a table that is not np2tf's
        raise ConfigurationError(f"{file}: not valid TOML: {error}") from None
    if not is_own_file:
        table = table.get("tool", {})
        table = table.get("np2tf") if isinstance(table, dict) else None
        if table is None:
            return None
    header = "" if is_own_file else "tool.np2tf"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{file}: tool.np2tf must be a table, not {_kind(table)}")
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in table.items():
        line = _line_of(text, header, key)
        if line is not None:
            lines[key] = line
        values[key] = _check(key, value, _place(file, line))
    return ConfigurationFile(file, values, lines)


def check_value(key: str, value: Any) -> Any:
    """Return a value of the command line in the form that settings have it.

    Raises:
        ConfigurationError: the value is not allowed.
    """
    return _check(key, value, "")


def _check(key: str, value: Any, place: str) -> Any:
    check = KEYS.get(key)
    if check is None:
        raise ConfigurationError(f"{place}there is no key `{key}`{_suggestion(key, KEYS)}")
    try:
        return check(value)
    except _WrongValueError as error:
        raise ConfigurationError(f"{place}`{key}` {error}") from None


class _WrongValueError(Exception):
    """A key cannot have this value. The text continues a sentence that begins with the key."""


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongValueError(f"must be true or false, not {_kind(value)}")
    return value


def _target(value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongValueError(f"must be a text, not {_kind(value)}")
    if value not in TARGETS:
        choices = ", ".join(f'"{target}"' for target in TARGETS)
        raise _WrongValueError(f'must be {choices}, not "{value}"{_suggestion(value, TARGETS)}')
    return value


def _line_length(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _WrongValueError(f"must be an integer, not {_kind(value)}")
    if value not in _LINE_LENGTHS:
        raise _WrongValueError(f"must be from {_LINE_LENGTHS[0]} to {_LINE_LENGTHS[-1]}, not {value}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise _WrongValueError(f"must be a list of texts, not {_kind(value)}")
    for text in value:
        if not isinstance(text, str):
            raise _WrongValueError(f"must be a list of texts; {text!r} is {_kind(text)}")
    return tuple(value)


def _patterns(value: Any) -> tuple[str, ...]:
    from pathspec import GitIgnoreSpec

    patterns = _texts(value)
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:  # pathspec's own errors are ValueErrors
            raise _WrongValueError(f'has a pattern that git would not take: "{pattern}"') from None
    return patterns


def _codes(value: Any) -> tuple[str, ...]:
    return tuple(_prefix(text) for text in _texts(value))


def _prefix(text: str) -> str:
    """Return the full spelling of a code, or of the beginning of codes: `NP2TF401`, `NP2TF4`, `401`.

    The word `ALL` stands for the beginning of every code.
    """
    prefix = text.strip().upper()
    prefix = "NP2TF" if prefix == "ALL" else prefix
    prefix = prefix if prefix.startswith("NP2TF") or not prefix.isdigit() else f"NP2TF{prefix}"
    if not prefix or not any(code.startswith(prefix) for code in codes()):
        raise _WrongValueError(f'has "{text}", which no code begins with{_suggestion(prefix, codes())}')
    return prefix


def _per_file(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _WrongValueError(f"must be a table of patterns with lists of codes, not {_kind(value)}")
    _patterns([pattern.removeprefix("!") for pattern in value])
    return tuple((pattern, _codes(codes)) for pattern, codes in value.items())


#: Key -> the function that returns its value, or raises _WrongValueError with the reason.
KEYS: dict[str, Callable[[Any], Any]] = {
    "target": _target,
    "jit": _truth,
    "line-length": _line_length,
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _per_file,
    "include": _patterns,
    "exclude": _patterns,
    "extend-exclude": _patterns,
}

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "a truth value"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a text"),
    (list, "a list"),
    (dict, "a table"),
)


def _kind(value: Any) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)


def _suggestion(word: str, known_words: Iterable[str]) -> str:
    close = get_close_matches(word.replace("_", "-"), list(known_words), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _place(file: Path, line: int | None) -> str:
    return f"{file}:{line}: " if line is not None else f"{file}: "


def _line_of(text: str, header: str, key: str) -> int | None:
    """Return the line in which a key of a table stands. Unusual spellings of the key are not found."""
    key_pattern = rf"[\"']?{re.escape(key)}[\"']?"
    beneath = rf"{re.escape(header)}\s*\.\s*" if header else ""
    inside = not header
    for number, line in enumerate(text.splitlines(), 1):
        table = re.match(r"\s*\[+([^\]\[]*)\]", line)
        if table is not None:
            name = re.sub(r"\s", "", table[1])
            if re.fullmatch(beneath + key_pattern + r"(\..*)?", name):
                return number
            inside = name == header
        elif inside and re.match(rf"\s*{key_pattern}\s*[=.]", line):
            return number
    return None

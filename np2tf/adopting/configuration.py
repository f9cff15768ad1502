"""Adds the table of a configuration at the end of a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib


class CannotAddError(ValueError):
    """Raised for a file to which a table cannot be added without a change of the file's meaning."""


def configuration(aside: Sequence[str], is_own: bool) -> str:
    """Return the text of a configuration.

    Args:
        aside: patterns of the files that are not translated.
        is_own: whether the text is for an np2tf.toml, and not for a pyproject.toml.
    """
    lines = [] if is_own else ["[tool.np2tf]"]
    lines += ['target = "np2tf"', 'select = ["ALL"]']
    if aside:
        patterns = ", ".join(json.dumps(pattern, ensure_ascii=False) for pattern in aside)
        lines += [
            "# Files that judge or describe the programs stay on NumPy.",
            f"extend-exclude = [{patterns}]",
        ]
    return "\n".join(lines) + "\n"


def with_table(data: bytes, table: str) -> bytes:
    """Return a pyproject.toml with the table at its end; all other bytes stay.

    Raises:
        CannotAddError: the file is not valid TOML, or cannot have the table.
    """
    try:
        text = data.decode("utf-8-sig")
        before = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CannotAddError(f"it is not valid TOML: {error}") from None
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
    addition = (gap + table.replace("\n", end)).encode("utf-8")
    try:
        after = tomllib.loads((data + addition).decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise CannotAddError(f"`tool` can have no further table: {error}") from None
    target_document = {**before, "tool": {**before.get("tool", {}), **tomllib.loads(table)["tool"]}}
    if after != target_document:
        raise CannotAddError("what it says would change")
    return data + addition

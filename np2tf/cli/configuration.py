"""The settings of a project for its files: `[tool.np2tf]` in pyproject.toml, or np2tf.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from np2tf.core.diagnostics import codes
from np2tf.core.rules import tomllib
from np2tf.translator.sources.options import LINE_LENGTH, Options

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = [
    "DEFAULT_EXCLUDE",
    "ConfigurationError",
    "Configurations",
    "Settings",
]


# -- patterns ------------------------------------------------------------------------------------------------
# Match paths with patterns, which have the meaning of the lines of a .gitignore.


@lru_cache(maxsize=4096)
def spec_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Return a matcher for the patterns. Paths are relative to the patterns' folder, and the paths of folders
    end in `/`.

    The matcher also takes everything in a folder that a pattern takes.
    """
    from pathspec import GitIgnoreSpec  # takes longer to import than `np2tf --help` may

    return GitIgnoreSpec.from_lines(patterns)


def verdict(patterns: tuple[str, ...], path: str) -> bool | None:
    """Return whether the patterns take a path itself (True) or keep it by `!` (False); None if no pattern
    matches.

    This is how git walks a tree from the top down: a pattern for a folder does not match the paths in the
    folder.
    """
    if spec_of(patterns).check_file(path).include is None:
        return None
    for pattern in reversed(patterns):
        if _takes(pattern.removeprefix("!"), path):
            return not pattern.startswith("!")
    return None


def _takes(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path itself, and not only a folder above it."""
    parts = path.rstrip("/").split("/")
    body = pattern.rstrip().rstrip("/")
    if "/" not in body:
        return spec_of((pattern,)).match_file(parts[-1] + "/" * path.endswith("/"))
    if not spec_of((pattern,)).match_file(path):
        return False
    names = body.strip("/").split("/")
    if names[-1] == "**":
        return len(parts) > len([name for name in names if name != "**"])
    if "**" in names:
        return spec_of((f"**/{names[-1]}",)).match_file(parts[-1])
    return len(parts) == len(names)


# -- reading -------------------------------------------------------------------------------------------------
# Read one configuration file: its values, and the lines in which they stand. Errors name their place.

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


@dataclass(frozen=True)
class FormatterWidth:
    """The length of lines that a project's formatter keeps, and the file that says so."""

    length: int
    told_by: str


#: The files with settings of ruff or Black; in one folder, the first of them counts for ruff.
_FORMATTER_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")


def formatter_width(file: Path) -> FormatterWidth | None:
    """Return the length of lines in a file's settings of ruff or Black; None if it has no such settings.

    Mistakes in these settings are not np2tf's to report.
    """
    try:
        table: Any = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    tools = table.get("tool", {}) if file.name == "pyproject.toml" else {"ruff": table}
    tables = [tools[name] for name in ("ruff", "black") if isinstance(tools, dict) and name in tools]
    lengths = [table.get("line-length") for table in tables if isinstance(table, dict)]
    known = [length for length in lengths if isinstance(length, int) and length in _LINE_LENGTHS]
    return FormatterWidth(known[0] if known else LINE_LENGTH, str(file)) if tables else None


def check_value(key: str, value: Any) -> Any:
    """Return a command line's value as settings have it; raise ConfigurationError if it is not allowed."""
    return _check(key, value, "")


def _check(key: str, value: Any, place: str) -> Any:
    check = KEYS.get(key)
    if check is None:
        raise ConfigurationError(f"{place}unknown key `{key}`{_suggestion(key, KEYS)}")
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
        raise _WrongValueError(f"must be a string, not {_kind(value)}")
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
        raise _WrongValueError(f"must be a list of strings, not {_kind(value)}")
    for text in value:
        if not isinstance(text, str):
            raise _WrongValueError(f"must be a list of strings; {text!r} is {_kind(text)}")
    return tuple(value)


def _patterns(value: Any) -> tuple[str, ...]:
    from pathspec import GitIgnoreSpec

    patterns = _texts(value)
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:  # pathspec's own errors are ValueErrors
            raise _WrongValueError(f'has a pattern that git would reject: "{pattern}"') from None
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
        raise _WrongValueError(f'has "{text}", but no code starts with it{_suggestion(prefix, codes())}')
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
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a string"),
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


# -- settings ------------------------------------------------------------------------------------------------
# The settings that apply to a file, and their effect.

#: Hidden folders, environments, and what builds, package managers and Python itself leave behind.
DEFAULT_EXCLUDE = (
    *(".*/", "__pycache__/", "__pypackages__/", "_build/", "buck-out/", "build/", "dist/", "env/"),
    *("node_modules/", "site-packages/", "venv/"),
)
DEFAULT_INCLUDE = ("*.py", "*.ipynb")
#: Every code begins with this prefix, so that it selects all codes.
EVERY_CODE = "NP2TF"
DEFAULT = "the default"
COMMAND_LINE = "the command line"


@dataclass(frozen=True)
class Settings:
    """The values of one configuration, completed by defaults and by the command line."""

    folder: Path
    """The folder of the configuration, or else the current folder. Patterns are relative to it."""
    target: str = "np2tf"
    jit: bool = True
    line_length: int = LINE_LENGTH
    select: tuple[str, ...] = (EVERY_CODE,)
    """Beginnings of codes. Of those in `select` and `ignore` that fit a code, the longest decides."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of files, each with beginnings of codes. `!pattern` matches files that `pattern` does not."""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    file: Path | None = None
    """The configuration file; None if there is none."""
    told_by: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Key, as TOML spells it -> where its value comes from. Keys with default values are missing."""

    def options(self, as_source: bool = True) -> Options:
        """Return the options of the translator; with `as_source`, for a translation in the source's place."""
        return Options(self.jit, line_length=self.line_length, target=self.target, as_source=as_source)

    def is_selected(self, code: str, path: str | os.PathLike[str]) -> bool:
        """Return whether a finding of this code in this file is shown.

        Errors, for which a file is left alone, are always shown.
        """
        entry = codes().get(code)
        if entry is not None and entry.severity == "error":
            return True
        select_length = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        ignore_length = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        if select_length <= ignore_length:
            return False
        for pattern, prefixes in self.per_file_ignores:
            if code.startswith(prefixes) and self._matches(pattern, path):
                return False
        return True

    def relative(self, path: str | os.PathLike[str]) -> str | None:
        """Return a path relative to the configuration's folder, with slashes; None if it is not below that
        folder.
        """
        try:
            return Path(os.path.abspath(path)).relative_to(self.folder).as_posix()
        except ValueError:
            return None

    def _matches(self, pattern: str, path: str | os.PathLike[str]) -> bool:
        inside = self.relative(path)
        if inside is None:
            return False
        if pattern.startswith("!"):
            return not spec_of((pattern[1:],)).match_file(inside)
        return spec_of((pattern,)).match_file(inside)


# -- discovery -----------------------------------------------------------------------------------------------
# Find the configuration that applies to a file: the nearest configuration upwards.

#: If a folder has both files, the first name counts.
_NAMES = ("np2tf.toml", "pyproject.toml")


class Configurations:
    """The configurations of all files that one command looks at. Each configuration is read once.

    Args:
        choices: key -> value, from the command line; None means that the option is not given. `ignore` and
            `extend-exclude` add to the configuration's values, all other keys replace them.

    Raises:
        ConfigurationError: an option has a value that is not allowed.
    """

    def __init__(self, choices: Mapping[str, Any] | None = None) -> None:
        self._overrides = {
            key: check_value(key, value) for key, value in (choices or {}).items() if value not in (None, ())
        }
        self._here = Path(os.path.abspath("."))
        self._by_folder: dict[Path, Settings] = {}
        self._complete_by_folder: dict[Path, Settings] = {}
        self._widths: dict[Path, FormatterWidth | None] = {}

    def of(self, path: str | os.PathLike[str]) -> Settings:
        """Return a file's settings, by its folder; raise ConfigurationError if they cannot be used."""
        return self.of_folder(os.path.dirname(os.path.abspath(path)))

    def of_folder(self, folder: str | os.PathLike[str]) -> Settings:
        """Return the settings that apply to the files directly in a folder.

        Lines are as long as the project's formatter makes them, unless np2tf's own settings say otherwise.
        """
        path = Path(os.path.abspath(folder))
        if path not in self._complete_by_folder:
            settings = self._of(path)
            width = None if "line-length" in settings.told_by else self._formatter_width(path)
            if width is not None:
                told_by = {**settings.told_by, "line-length": width.told_by}
                settings = replace(settings, line_length=width.length, told_by=told_by)
            self._complete_by_folder[path] = settings
        return self._complete_by_folder[path]

    def _formatter_width(self, folder: Path) -> FormatterWidth | None:
        """Return the length of lines of the nearest settings of ruff or Black, upwards from a folder."""
        if folder not in self._widths:
            files = (folder / name for name in _FORMATTER_FILES)
            width = next((found for file in files if (found := formatter_width(file)) is not None), None)
            if width is None and folder.parent != folder:
                width = self._formatter_width(folder.parent)
            self._widths[folder] = width
        return self._widths[folder]

    def _of(self, folder: Path) -> Settings:
        settings = self._by_folder.get(folder)
        if settings is None:
            settings = self._read(folder)
            if settings is None:
                above = folder.parent
                settings = self._of(above) if above != folder else self._complete(Settings(self._here))
            self._by_folder[folder] = settings
        return settings

    def _read(self, folder: Path) -> Settings | None:
        for name in _NAMES:
            file = folder / name
            if not file.is_file():
                continue
            content = read(file)
            if content is None:
                continue
            values = {key.replace("-", "_"): value for key, value in content.values.items()}
            origins = {
                key: f"{file}:{content.lines[key]}" if key in content.lines else str(file)
                for key in content.values
            }
            return self._complete(Settings(folder, file=file, told_by=origins, **values))
        return None

    def _complete(self, settings: Settings) -> Settings:
        """Return the settings with the options of the command line applied."""
        values: dict[str, Any] = {}
        origins = dict(settings.told_by)
        for key, value in self._overrides.items():
            name = key.replace("-", "_")
            if key in ("ignore", "extend-exclude"):
                values[name] = (*getattr(settings, name), *value)
                origins[key] = f"{origins[key]} and {COMMAND_LINE}" if key in origins else COMMAND_LINE
            else:
                values[name] = value
                origins[key] = COMMAND_LINE
        if "select" in self._overrides:
            # A user who selects exactly a code that the configuration ignores wants to see it.
            codes = tuple(code for code in settings.ignore if code not in values["select"])
            values["ignore"] = (*codes, *self._overrides.get("ignore", ()))
        return replace(settings, **values, told_by=origins)

"""Which files are to be translated: the ones that are named, and those found in the folders that are named.

What is in a folder is taken if `include` says so, and neither `exclude` nor a .gitignore takes it out.
Patterns mean what they mean to git; those of a configuration are relative to its folder. What is named is
taken in any case, unless `force_exclude` is set.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.configuration import Configurations, Settings
from np2tf.configuration.patterns import spec_of, verdict


@dataclass(frozen=True)
class FoundFile:
    """A file that is to be looked at."""

    path: Path
    root: Path
    """The folder it was found under: the argument, or what a named file lies in."""
    is_source: bool = True
    """Python, and not one of the other files that `others` asks for."""


@dataclass(frozen=True)
class _Patterns:
    """The lines of one .gitignore or configuration, and the folder that they are about."""

    base: str
    lines: tuple[str, ...]

    def says(self, path: str) -> bool | None:
        """Whether a path is taken out or, by `!`, kept; None where nothing is said. Folders end with `/`."""
        inside = _relative(path, self.base)
        return None if inside is None else verdict(self.lines, inside)

    def beneath(self, root: str) -> _Patterns:
        """The same for what lies in a folder that was named: relative to that, if they are of elsewhere."""
        is_near = _relative(root, self.base) is not None or _relative(self.base, root) is not None
        return self if is_near else _Patterns(root, self.lines)


@dataclass
class Search:
    """How files are looked for.

    Attributes:
        configurations: those that apply.
        gitignore: whether .gitignore files count.
        force_exclude: whether what is named is taken out like what is found.
        every_name: whether a file is to be found under each of its names, and not under the first one only.
        others: whether files are given that are not Python.
        apart_from: a folder that is not looked into.
        pages: endings of names that are taken besides what `include` says.
    """

    configurations: Configurations = field(default_factory=Configurations)
    gitignore: bool = True
    force_exclude: bool = False
    every_name: bool = False
    others: bool = False
    apart_from: Path | None = None
    pages: tuple[str, ...] = ()
    _seen: set[str] = field(default_factory=set, init=False, repr=False)

    def files(self, paths: Iterable[Path]) -> Iterator[FoundFile]:
        """The files, in the order of the arguments, each once; in a folder by name, folders last."""
        self._seen = set()
        for path in paths:
            if self.force_exclude and self.excludes(path):
                continue
            if path.is_dir():
                yield from self._below(path)
            elif self._is_new(path):
                yield FoundFile(path, path.parent)

    def excludes(self, path: Path) -> bool:
        """Whether a path would be taken out if it was found: itself, or a folder above it."""
        whole = os.path.abspath(path)
        above = [str(folder) for folder in reversed(Path(whole).parents)]
        settings = self.configurations.of(path)
        base = str(settings.folder)
        if settings.relative(whole) is None:  # no configuration, and not below the current folder
            base = _repository(above[-1]) or Path(whole).anchor
        excluding, ignoring = [_Patterns(base, _exclusions(settings))], self._gitignores(above[-1])
        for folder in above:
            if _relative(folder, base) is not None and os.path.exists(os.path.join(folder, "pyvenv.cfg")):
                return True
            if self._is_taken_out(folder + "/", excluding, ignoring):
                return True
        return self._is_taken_out(whole + "/" * path.is_dir(), excluding, ignoring)

    def _below(self, root: Path) -> Iterator[FoundFile]:
        whole = os.path.abspath(root)
        ignoring: list[_Patterns] = []
        if not os.path.lexists(os.path.join(whole, ".git")):  # a repository is not ignored by one around it
            ignoring = self._gitignores(os.path.dirname(whole))
        yield from self._in(root, root, whole, ignoring)

    def _in(self, folder: Path, root: Path, whole_root: str, above: list[_Patterns]) -> Iterator[FoundFile]:
        whole, real = os.path.abspath(folder), os.path.realpath(folder)
        settings = self.configurations.of_folder(whole)
        ignoring = [*above, *(_gitignore(whole) if self.gitignore else ())]
        excluding = [_Patterns(str(settings.folder), _exclusions(settings)).beneath(whole_root)]
        including = _Patterns(str(settings.folder), settings.include).beneath(whole_root)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield FoundFile(folder, root)  # who reads it is told why that does not work
            return
        folders = []
        for entry in entries:
            path, shown = folder / entry.name, os.path.join(whole, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if not self._is_taken_out(shown + "/", excluding, ignoring):
                    folders.append(path)
                continue
            if not _is_regular(entry) or self._is_taken_out(shown, excluding, ignoring):
                continue
            is_source = including.says(shown) is True or entry.name.endswith(self.pages)
            known = None if entry.is_symlink() else os.path.join(real, entry.name)
            if (is_source or self.others) and self._is_new(path, known):
                yield FoundFile(path, root, is_source)
        for inner in folders:
            if not (inner / "pyvenv.cfg").exists() and not self._is_apart(inner):
                yield from self._in(inner, root, whole_root, ignoring)

    def _is_taken_out(self, path: str, excluding: list[_Patterns], ignoring: list[_Patterns]) -> bool:
        return _last_word(excluding, path) is True or _last_word(ignoring, path) is True

    def _is_new(self, path: Path, real: str | None = None) -> bool:
        """Whether a file has not been found yet; `real` is its name without links, if that is known."""
        name = os.path.abspath(path) if self.every_name else real or os.path.realpath(path)
        known = name in self._seen
        self._seen.add(name)
        return not known

    def _is_apart(self, folder: Path) -> bool:
        return self.apart_from is not None and os.path.realpath(folder) == os.path.realpath(self.apart_from)

    def _gitignores(self, folder: str) -> list[_Patterns]:
        """The .gitignore files from the top of the repository down to `folder`; none outside of one."""
        if not self.gitignore:
            return []
        top = _repository(folder)
        if top is None:
            return []
        chain = [folder]
        while chain[-1] != top:
            chain.append(os.path.dirname(chain[-1]))
        found = _patterns_in(os.path.join(top, ".git", "info", "exclude"), top)
        for one in reversed(chain):
            found += _patterns_in(os.path.join(one, ".gitignore"), one)
        return found


def python_files(paths: Iterable[Path], search: Search | None = None) -> Iterator[tuple[Path, Path]]:
    """(file, the folder it was found under) of all that is to be translated."""
    for found in (search or Search()).files(paths):
        if found.is_source:
            yield found.path, found.root


def _repository(folder: str) -> str | None:
    """The top of the repository that a folder is in."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _last_word(patterns: list[_Patterns], path: str) -> bool | None:
    """What the last of the patterns says that says something."""
    for one in reversed(patterns):
        said = one.says(path)
        if said is not None:
            return said
    return None


def _relative(path: str, base: str) -> str | None:
    """A path below `base`, as patterns see it; None for what lies elsewhere."""
    top = base if base.endswith(os.sep) else base + os.sep
    return path[len(top) :].replace(os.sep, "/") if path.startswith(top) and len(path) > len(top) else None


def _exclusions(settings: Settings) -> tuple[str, ...]:
    return (*settings.exclude, *settings.extend_exclude)


def _gitignore(folder: str) -> list[_Patterns]:
    """The .gitignore of a folder; at the top of a repository also what the user alone ignores there."""
    own = _patterns_in(os.path.join(folder, ".git", "info", "exclude"), folder)
    return own + _patterns_in(os.path.join(folder, ".gitignore"), folder)


def _patterns_in(file: str, base: str) -> list[_Patterns]:
    """The patterns of a file, if there is one; lines that git would not take are passed over."""
    try:
        with open(file, encoding="utf-8-sig", errors="surrogateescape") as opened:
            lines = tuple(line for line in opened.read().split("\n") if _is_pattern(line))
    except OSError:
        return []
    return [_Patterns(base, lines)] if lines else []


def _is_pattern(line: str) -> bool:
    try:
        return bool(line.strip()) and not line.startswith("#") and spec_of((line,)) is not None
    except ValueError:  # of which pathspec's own errors are
        return False


def _is_regular(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or leads to one: a pipe has no end, a link may lead nowhere or to itself."""
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False

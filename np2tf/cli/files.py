"""Files on disk: which are translated, and how one is written in one step."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from np2tf.cli.configuration import Configurations, Settings, spec_of, verdict

# -- discovery -----------------------------------------------------------------------------------------------
# Find the files to translate: the files that are named, and the files in the folders that are named.
#
# A file in a folder is taken if `include` matches it, and neither `exclude` nor a .gitignore excludes it.
# Patterns have git's meaning; patterns of a configuration are relative to its folder. A path that is named
# is always taken, unless `force_exclude` is set.


@dataclass(frozen=True)
class FoundFile:
    """A file that the search has found."""

    path: Path
    root: Path
    """The folder under which it was found: the argument, or the folder of a named file."""
    is_source: bool = True
    """True for a Python file; False for one of the other files that `Search.finds_other_files` asks for."""


@dataclass(frozen=True)
class _Patterns:
    """The lines of one .gitignore or configuration, and the folder to which they apply."""

    base: str
    lines: tuple[str, ...]

    def says(self, path: str) -> bool | None:
        """Return whether the patterns exclude a path (True) or keep it by `!` (False); None if no pattern
        matches.

        Args:
            path: an absolute path; that of a folder ends with `/`.
        """
        inside = _relative(path, self.base)
        return None if inside is None else verdict(self.lines, inside)

    def beneath(self, root: str) -> _Patterns:
        """Return the patterns for a folder that was named: relative to that folder, if these belong to
        another place.
        """
        is_near = _relative(root, self.base) is not None or _relative(self.base, root) is not None
        return self if is_near else _Patterns(root, self.lines)


@dataclass
class Search:
    """A search for files.

    Attributes:
        force_exclude: whether named paths can be excluded like found paths.
        every_name: whether a file is found under each of its names, and not under the first name only.
        apart_from: a folder that is not searched.
        pages: endings of names of files that are searched in addition to the patterns of `include`.
        empty_folders: the named folders of the last search in which nothing was found.
    """

    configurations: Configurations = field(default_factory=Configurations)
    gitignore: bool = True
    force_exclude: bool = False
    every_name: bool = False
    finds_other_files: bool = False
    apart_from: Path | None = None
    pages: tuple[str, ...] = ()
    empty_folders: list[Path] = field(default_factory=list, init=False)
    _real_paths: set[str] = field(default_factory=set, init=False, repr=False)
    _has_matches: bool = field(default=False, init=False, repr=False)

    def files(self, paths: Iterable[Path]) -> Iterator[FoundFile]:
        """Yield the files in the order of the arguments, each once; in a folder by name, subfolders last.

        Raises:
            click.UsageError: a path is a pipe or a device, which can be read once or never.
        """
        self._real_paths, self.empty_folders = set(), []
        for path in paths:
            if self.force_exclude and self.excludes(path):
                continue
            if path.is_dir():
                self._has_matches = False
                yield from self._below(path)
                if not self._has_matches:
                    self.empty_folders.append(path)
            elif path.exists() and not path.is_file():
                raise click.UsageError(f"{path} is no regular file; `-` reads the standard input")
            elif self._is_new(path):
                yield FoundFile(path, path.parent)

    def warnings(self) -> Iterator[str]:
        """Yield a sentence about each named folder in which nothing was found."""
        for folder in self.empty_folders:
            pages = (f"*{ending}" for ending in self.pages)
            patterns = ", ".join((*self.configurations.of_folder(folder).include, *pages))
            yield (
                f"no files found in {folder}: none matches {patterns} without being excluded "
                "(--include and --exclude change the patterns)"
            )

    def excludes(self, path: Path) -> bool:
        """Return whether the search would exclude a path, or a folder above it, if it found the path."""
        whole = os.path.abspath(path)
        above = [str(folder) for folder in reversed(Path(whole).parents)]
        settings = self.configurations.of(path)
        base = str(settings.folder)
        if settings.relative(whole) is None:  # no configuration, and not below the current folder
            base = _repository(above[-1]) or Path(whole).anchor
        exclusions, gitignores = [_Patterns(base, _exclusions(settings))], self._gitignores(above[-1])
        for folder in above:
            if _relative(folder, base) is not None and os.path.exists(os.path.join(folder, "pyvenv.cfg")):
                return True
            if self._is_taken_out(folder + "/", exclusions, gitignores):
                return True
        return self._is_taken_out(whole + "/" * path.is_dir(), exclusions, gitignores)

    def _below(self, root: Path) -> Iterator[FoundFile]:
        whole = os.path.abspath(root)
        gitignores: list[_Patterns] = []
        if not os.path.lexists(os.path.join(whole, ".git")):  # only a .gitignore inside applies
            gitignores = self._gitignores(os.path.dirname(whole))
        yield from self._in(root, root, whole, gitignores)

    def _in(self, folder: Path, root: Path, whole_root: str, above: list[_Patterns]) -> Iterator[FoundFile]:
        whole, real = os.path.abspath(folder), os.path.realpath(folder)
        settings = self.configurations.of_folder(whole)
        gitignores = [*above, *(_gitignore(whole) if self.gitignore else ())]
        exclusions = [_Patterns(str(settings.folder), _exclusions(settings)).beneath(whole_root)]
        inclusions = _Patterns(str(settings.folder), settings.include).beneath(whole_root)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._has_matches = True
            yield FoundFile(folder, root)  # reading it will fail, and report the reason
            return
        folders = []
        for entry in entries:
            path, full_path = folder / entry.name, os.path.join(whole, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if not self._is_taken_out(full_path + "/", exclusions, gitignores):
                    folders.append(path)
                continue
            if not _is_regular(entry) or self._is_taken_out(full_path, exclusions, gitignores):
                continue
            is_source = inclusions.says(full_path) is True or entry.name.endswith(self.pages)
            self._has_matches |= is_source
            real_path = None if entry.is_symlink() else os.path.join(real, entry.name)
            if (is_source or self.finds_other_files) and self._is_new(path, real_path):
                yield FoundFile(path, root, is_source)
        for inner in folders:
            if not (inner / "pyvenv.cfg").exists() and not self._is_apart(inner):
                yield from self._in(inner, root, whole_root, gitignores)

    def _is_taken_out(self, path: str, excludes: list[_Patterns], ignores: list[_Patterns]) -> bool:
        return _last_word(excludes, path) is True or _last_word(ignores, path) is True

    def _is_new(self, path: Path, real: str | None = None) -> bool:
        """Return whether a file has not been found yet; `real` is its name without links, if known."""
        name = os.path.abspath(path) if self.every_name else real or os.path.realpath(path)
        known = name in self._real_paths
        self._real_paths.add(name)
        return not known

    def _is_apart(self, folder: Path) -> bool:
        return self.apart_from is not None and os.path.realpath(folder) == os.path.realpath(self.apart_from)

    def _gitignores(self, folder: str) -> list[_Patterns]:
        """Return the .gitignore files from the top of the repository down to `folder`; none outside of a
        repository.
        """
        if not self.gitignore:
            return []
        top = _repository(folder)
        if top is None:
            return []
        chain = [folder]
        while chain[-1] != top:
            chain.append(os.path.dirname(chain[-1]))
        patterns = _patterns_in(os.path.join(top, ".git", "info", "exclude"), top)
        for parent in reversed(chain):
            patterns += _patterns_in(os.path.join(parent, ".gitignore"), parent)
        return patterns


def python_files(paths: Iterable[Path], search: Search | None = None) -> Iterator[tuple[Path, Path]]:
    """Yield each file to translate with the folder under which it was found."""
    for file in (search or Search()).files(paths):
        if file.is_source:
            yield file.path, file.root


def name_of_standard_input(data: bytes, name: str | None) -> Path:
    """Return the path that findings in standard input have: `name`, or one that fits the content."""
    if name is not None:
        return Path(name)
    is_notebook = data.lstrip().startswith(b"{") and b'"nbformat"' in data
    return Path("<stdin>.ipynb" if is_notebook else "<stdin>")


def _repository(folder: str) -> str | None:
    """Return the top folder of the repository that holds a folder; None if there is no repository."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _last_word(patterns: list[_Patterns], path: str) -> bool | None:
    """Return the verdict of the last of the patterns that match; None if none matches."""
    for pattern in reversed(patterns):
        verdict = pattern.says(path)
        if verdict is not None:
            return verdict
    return None


def _relative(path: str, base: str) -> str | None:
    """Return a path relative to `base`, with slashes, as patterns need it; None if it is not below `base`."""
    top = base if base.endswith(os.sep) else base + os.sep
    return path[len(top) :].replace(os.sep, "/") if path.startswith(top) and len(path) > len(top) else None


def _exclusions(settings: Settings) -> tuple[str, ...]:
    return (*settings.exclude, *settings.extend_exclude)


def _gitignore(folder: str) -> list[_Patterns]:
    """Return the patterns of a folder's .gitignore; at the top of a repository also the patterns
    of .git/info/exclude.
    """
    own_patterns = _patterns_in(os.path.join(folder, ".git", "info", "exclude"), folder)
    return own_patterns + _patterns_in(os.path.join(folder, ".gitignore"), folder)


def _patterns_in(file: str, base: str) -> list[_Patterns]:
    """Return the patterns of a file, if it exists. Lines that git would not accept are skipped."""
    try:
        with open(file, encoding="utf-8-sig", errors="surrogateescape") as stream:
            lines = tuple(line for line in stream.read().split("\n") if _is_pattern(line))
    except OSError:
        return []
    return [_Patterns(base, lines)] if lines else []


def _is_pattern(line: str) -> bool:
    try:
        return bool(line.strip()) and not line.startswith("#") and spec_of((line,)) is not None
    except ValueError:  # pathspec's own errors are ValueErrors
        return False


def _is_regular(entry: os.DirEntry[str]) -> bool:
    """Return whether the entry is a regular file, or a link to a regular file. Reading a pipe would never
    end.
    """
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False


# -- writing -------------------------------------------------------------------------------------------------
# Write a file in one step: at every moment there is either the old file or the new file.


def write(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file. If the path is a symbolic link, its target is written.

    An existing file keeps its owners, permissions and extended attributes. A new file gets the executable
    bits of `like`, if that is given.

    Raises:
        OSError: the file cannot be written, or only with a change of its owners. The old file is unchanged.
    """
    path = Path(os.path.realpath(path))
    before = path.stat() if path.exists() else None
    if before is not None and not os.access(path, os.W_OK):
        raise PermissionError(None, "the file is read-only")
    handle, temporary = tempfile.mkstemp(".np2tf", f".{path.name[:40]}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if before is not None:
            _keep_owners(temporary, before)
            shutil.copystat(path, temporary)
            os.utime(temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask() | (_executable(like) & ~_umask()))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Write a file that has been read before; a new file if `before` is empty.

    Raises:
        OSError: the file does not have the bytes `before` any more, or cannot be written. It stays as it is.
    """
    if (path.read_bytes() if before or path.exists() else b"") != before:
        raise OSError(None, "it changed while np2tf was working on it")
    write(path, after)


def _keep_owners(temporary: str, before: os.stat_result) -> None:
    if not hasattr(os, "chown"):
        return
    now = os.stat(temporary)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return
    try:
        os.chown(temporary, before.st_uid, before.st_gid)
    except PermissionError:
        raise PermissionError(None, "its owner and group cannot be kept") from None


def _executable(like: Path | None) -> int:
    """Return the permission bits of a file that let it be executed; 0 for None."""
    everybody = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
    return like.stat().st_mode & everybody if like is not None else 0


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

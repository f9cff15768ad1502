"""Adds an entry to .pre-commit-config.yaml; existing entries and comments do not change."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from np2tf.cli.adopting import CannotAddError

#: The file of a repository without hooks.
NEW = "# Hooks that git runs before each commit: https://pre-commit.com\nrepos:\n"


def local_entry(arguments: Sequence[str]) -> dict[str, Any]:
    """Return a hook that runs the np2tf of the environment in which the user commits."""
    entry = " ".join(["np2tf", "check", "--force-exclude", *arguments])
    hook = {"id": "np2tf-check", "name": "np2tf check", "entry": entry, "language": "system"}
    return {"repo": "local", "hooks": [{**hook, "types_or": ["python", "jupyter"]}]}


def remote_entry(url: str, revision: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return a hook of np2tf's repository, which pre-commit installs."""
    hook: dict[str, Any] = {"id": "np2tf-check"}
    return {"repo": url, "rev": revision, "hooks": [hook | ({"args": list(arguments)} if arguments else {})]}


def has_hook(text: str) -> bool:
    """Return whether a configuration has a hook of np2tf; raise CannotAddError if the text cannot be read."""
    repos = _load(text).get("repos") or []
    hooks = (hook for repo in repos if isinstance(repo, dict) for hook in repo.get("hooks") or [])
    return any(isinstance(hook, dict) and str(hook.get("id", "")).startswith("np2tf") for hook in hooks)


def with_entry(text: str, entry: dict[str, Any]) -> str:
    """Return the configuration with an additional entry after the other entries.

    Raises:
        CannotAddError: the text cannot be read, or has no list of repositories.
    """
    document = _load(text)
    repos = document.get("repos")
    if repos is not None and not isinstance(repos, list):
        raise CannotAddError("`repos` is not a list")
    target_document = {**_plain(document), "repos": [*_plain(repos or []), entry]}
    new_text = _insert_entry(text, document, entry)
    if new_text is None or _plain(_load(new_text)) != target_document:
        new_text = _rewrite(document, entry, text)
    if _plain(_load(new_text)) != target_document:
        raise CannotAddError("adding to it would change its meaning")
    return new_text


def _insert_entry(text: str, document: CommentedMap, entry: dict[str, Any]) -> str | None:
    """Return the text with the entry's lines after the lines of the last entry; None if it is not found."""
    repos = document.get("repos")
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if not isinstance(repos, CommentedSeq) or not repos or repos.fa.flow_style():
        return None
    first, column = repos.lc.item(len(repos) - 1)
    next_lines = [line for key in document if (line := document.lc.key(key)[0]) > first]
    last = min(next_lines, default=len(lines))
    while last > first + 1 and _is_empty(lines[last - 1]):
        last -= 1
    block = [" " * (column - 2) + line for line in textwrap.dedent(_dump([entry])).splitlines()]
    if not lines[last - 1].endswith("\n"):
        lines[last - 1] += end
    return "".join([*lines[:last], *(line + end for line in block), *lines[last:]])


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _rewrite(document: CommentedMap, entry: dict[str, Any], text: str) -> str:
    """Return the configuration written anew, with its comments, for a list that is empty or on one line."""
    repos = document.get("repos")
    if not isinstance(repos, CommentedSeq):
        repos = document["repos"] = CommentedSeq()
    if not repos:
        repos.fa.set_block_style()
    repos.append(entry)
    return _dump(document).replace("\n", "\r\n" if "\r\n" in text else "\n")


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _dump(value: Any) -> str:
    stream = io.StringIO()
    _yaml().dump(value, stream)
    return stream.getvalue()


def _load(text: str) -> CommentedMap:
    try:
        document = _yaml().load(text)
    except YAMLError as error:
        raise CannotAddError(f"it is not valid YAML: {str(error).splitlines()[0]}") from None
    if document is None:
        return CommentedMap()
    if not isinstance(document, CommentedMap):
        raise CannotAddError("it is not a table with `repos`")
    return document


def _plain(value: Any) -> Any:
    """Return YAML data as Python's own dicts and lists."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value

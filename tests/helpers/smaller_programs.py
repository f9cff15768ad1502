"""Finds a smaller program that still fails, by removing statements, many at a time and then one by one."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator


def smaller(source: str, fails: Callable[[str], bool], seconds: float = 60) -> str:
    """Return a program that fails in the same way and has few superfluous statements.

    Args:
        source: a module's text, which fails.
        fails: returns whether a text fails in the wanted way.
        seconds: the time after which to stop.
    """
    until = time.monotonic() + seconds
    shrinking = True
    while shrinking:
        shrinking = False
        for candidate in _with_less(source):
            if time.monotonic() > until:
                return source
            if fails(candidate):
                source, shrinking = candidate, True
                break
    return source


def _with_less(source: str) -> Iterator[str]:
    """Yield the programs that lack some statements, entries of a returned dict, or a header around
    statements.
    """
    tree = ast.parse(source)
    for k, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Dict):
            for start, stop in _runs(len(node.keys)):
                changed, place = _copy(tree, k)
                del place.keys[start:stop], place.values[start:stop]  # type: ignore[attr-defined]
                yield _text(changed)
        for name in ("body", "orelse"):
            if isinstance(getattr(node, name, None), list):
                yield from _without_statements(tree, k, name)


def _runs(length: int) -> Iterator[tuple[int, int]]:
    """Yield parts of a sequence of this length: all of it, halves, quarters ..., the last parts first."""
    size = length
    while size:
        for stop in range(length, 0, -size):
            yield max(0, stop - size), stop
        size //= 2


def _without_statements(tree: ast.Module, k: int, name: str) -> Iterator[str]:
    """Yield the program without some of a block's statements, or with the body of a statement in its
    place.
    """
    block = getattr(list(ast.walk(tree))[k], name)
    for start, stop in _runs(len(block)):
        for instead in ("", "body", "orelse") if stop == start + 1 else ("",):
            inside = getattr(block[start], instead, None) if instead else []
            if inside is None or (instead and isinstance(block[start], ast.FunctionDef)):
                continue
            changed, place = _copy(tree, k)
            changed_block = getattr(place, name)
            changed_block[start:stop] = inside
            if not changed_block and name == "body":
                if isinstance(block[0], ast.Pass):
                    continue
                changed_block.append(ast.Pass())
            yield _text(changed)


def _copy(tree: ast.Module, k: int) -> tuple[ast.Module, ast.AST]:
    """Return a copy of a program, and the k-th node of it."""
    copied = copy.deepcopy(tree)
    return copied, list(ast.walk(copied))[k]


def _text(tree: ast.Module) -> str:
    return ast.unparse(tree) + "\n"

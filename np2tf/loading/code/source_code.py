"""The code of a module's own source, in which hot functions and loops are translated while it runs.

Most programs have little that is worth compiling. So a program starts as its source: functions over arrays
wait for their translation (`np2tf.staging.host.waiting`), and loops are watched. Python's own parser is
enough for that; libcst and the translator are loaded when something is due.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import types
import warnings
from collections.abc import Container, Iterator, Mapping

import numpy as np

from np2tf.loading.code.frames import Frames
from np2tf.loading.code.originals import (
    REMOVED_METHODS,
    Path,
    below_numpy_if_there,
    functions_in,
    is_there,
    jitted_codes,
    watched_codes,
)
from np2tf.loading.findings import Originals, Translation
from np2tf.loading.loops.array_work import ArrayWork
from np2tf.loading.loops.loop_functions import loops_of
from np2tf.loading.loops.names import Function, functions_of, functions_off
from np2tf.loading.loops.watched_code import is_plain, watch_translation
from np2tf.staging.host.waiting import WAIT
from np2tf.translator.sources.candidates import may_make_tensors
from np2tf.translator.sources.python_trees import first_line, parse_quietly

#: A source with such an import may hand its functions to another compiler, and needs its translation at once.
_OTHER_COMPILERS = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:numba|jax|torch|cupy|cython)\b", re.MULTILINE)


def source_code(data: bytes, path: str) -> Translation | None:
    """Return the code of a module's source, in which what is hot is translated while it runs.

    None if the source needs its translation at once, because it uses what NumPy has removed, or is for other
    libraries; or if it is no valid Python.
    """
    if may_make_tensors(data) or _OTHER_COMPILERS.search(data):
        return None
    try:
        text = importlib.util.decode_source(data)
        tree, original = ast.parse(data, path), parse_quietly(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    work = ArrayWork(original, path)
    if not _has_everything(original, work.numpy):
        return None
    loops = loops_of(original, text, path, work)
    frames = Frames(original)
    frames.leave_out_own(tree)
    off = functions_off(original, text)
    waiting_lines = _let_functions_wait(tree, work, frames, off)
    watch_translation(tree, path, loops, waiting_lines, frozenset(off.values()))
    code = _compile(tree, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functions = [function for _, function, _ in functions_in(code)]
        watched, loop_functions = watched_codes(original, path, waiting_lines, {}, functions, loops)
    hot = jitted_codes(functions, watched, waiting_lines)
    originals = Originals(np.__version__, (), (), hot, loop_functions)
    return Translation(code, (), originals=originals, is_source=True)


def _compile(tree: ast.Module, path: str) -> types.CodeType:
    """Compile a tree in which statements may be written twice, with each of Python's warnings once."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        code = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    for text, line in dict.fromkeys((str(record.message), record.lineno) for record in records):
        warnings.warn_explicit(text, SyntaxWarning, path, line)
    return code


def _has_everything(tree: ast.Module, numpy: Mapping[str, Path]) -> bool:
    """Return whether NumPy has everything that the source reads from it."""
    values = {name: below_numpy_if_there(path) for name, path in numpy.items()}
    return (
        all(is_there(chain, values) for chain in ([name] for name in numpy))
        and all(is_there(chain, values) for chain in _chains(tree))
        and all(
            node.attr not in REMOVED_METHODS for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        )
    )


def _chains(tree: ast.Module) -> Iterator[list[str]]:
    """Yield the chains of attributes that are read from names: `np.linalg.norm`."""
    for node in ast.walk(tree):
        chain: list[str] = []
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            chain.insert(0, part.attr)
            part = part.value
        if chain and isinstance(part, ast.Name):
            yield [part.id, *chain]


def _let_functions_wait(tree: ast.Module, work: ArrayWork, frames: Frames, off: Container[int]) -> set[int]:
    """Decorate the functions that work on arrays, and return their first lines; `off` has the lines of those
    that stay as they are.
    """
    lines = set()
    for function, _ in functions_of(tree.body):
        if function.lineno in off:
            continue
        if _may_be_compiled(function) and work.is_in(function) and not frames.are_seen_by(function):
            function.decorator_list.append(ast.copy_location(ast.Name(WAIT, ast.Load()), function))
            lines.add(first_line(function))
    return lines


def _may_be_compiled(function: Function) -> bool:
    """Return whether a function is of a kind that is compiled, whatever its body does."""
    is_special = function.name.startswith("__") and function.name.endswith("__")
    return is_plain(function) and (not is_special or function.name == "__call__")

"""Makes new functions from given functions: translates their source, and puts the code under their globals
and closures.

The source is not run again: it is compiled, and the functions' code objects are taken from the result.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from np2tf.core.cache import cache, key_of
from np2tf.loading.findings import Finding, UntranslatableError
from np2tf.loading.functions.blocks import Block, block_of, is_stand_in
from np2tf.loading.loops.names import functions_of
from np2tf.staging.process.boundary import NAMES, note_translated
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import DEFINITIONS

_FACTORY = "__np2tf_names__"
#: Members that arrays have, and that raw tensors lack or have with another meaning: methods, attributes,
#: writes to elements.
_OF_ARRAYS = (ast.Attribute, ast.Subscript)
_Def = ast.FunctionDef | ast.AsyncFunctionDef


def translations(
    functions: Sequence[types.FunctionType], options: Options
) -> tuple[dict[types.FunctionType, Any], list[Finding]]:
    """Return the translations of functions that share one block of source, and the findings about them.

    Raises:
        UntranslatableError: if there is no source, or it cannot be translated.
    """
    return translate_block(block_of(functions), functions, options, with_boundaries=True)


def translate_block(
    block: Block,
    functions: Sequence[types.FunctionType],
    options: Options,
    with_boundaries: bool = False,
) -> tuple[dict[types.FunctionType, Any], list[Finding]]:
    """Return the translations of the functions in a block, and the findings about them.

    Args:
        with_boundaries: whether functions that the translation leaves as they are get boundaries too, so that
            raw tensors among their arguments become arrays.

    Raises:
        UntranslatableError: if the block cannot be translated.
    """
    first_lines = {place: function.__code__.co_firstlineno for function, place in block.definitions.items()}
    work = _Work(block, functions, options, with_boundaries, first_lines)
    translated, libraries = _known(work) or _translated(work)
    codes = {} if translated.code is None else dict(_codes(translated.code))
    new: dict[types.FunctionType, Any] = {}
    for function in functions:
        place = block.definitions.get(function)
        code = None if place is None else codes.get((place[0], first_lines[place]))
        if place is not None and code is not None:
            new[function] = _make_function(function, code, libraries, place in translated.jit_places)
    return new, list(translated.findings)


class _Work(NamedTuple):
    """What to translate, and the first line of each function by its name and the line of its `def`."""

    block: Block
    functions: Sequence[types.FunctionType]
    options: Options
    with_boundaries: bool
    first_lines: dict[tuple[str, int], int]

    @property
    def key(self) -> str:
        """The key of the translation in the cache."""
        block, first = self.block, self.functions[0].__code__
        names = [function.__code__.co_freevars for function in self.functions]
        lines = block.down, block.right, block.lines, sorted(self.first_lines.items())
        rest = self.with_boundaries, names, lines, first.co_flags & _FUTURE, np.__version__
        return key_of(block.text.encode("utf-8", "surrogatepass"), block.path, (self.options, rest))


class _Translated(NamedTuple):
    """The translation of a block.

    Attributes:
        code: the code that contains that of the functions; None if nothing changes.
        imports: the imports of the objects that the code takes as closure variables, as text.
        library_names: the names of these objects.
        jit_places: the name and line of each function that is jitted.
    """

    code: types.CodeType | None
    findings: tuple[Finding, ...]
    imports: str = ""
    library_names: tuple[str, ...] = ()
    jit_places: frozenset[tuple[str, int]] = frozenset()


def _known(work: _Work) -> tuple[_Translated, dict[str, Any]] | None:
    """Return the translation from the cache, and the objects that it imports; None if it is not there."""
    disk_cache = cache()
    entry = None if disk_cache is None else disk_cache.load(work.key)
    if entry is None:
        return None
    code, findings, imports, names, jit_places = entry
    libraries = _imported(imports, work.block)
    if tuple(libraries) != names:
        return None  # a name means another object than it did
    translated = _Translated(code, tuple(map(Finding._make, findings)), imports, names, frozenset(jit_places))
    return translated, {**libraries, **NAMES}


def _translated(work: _Work) -> tuple[_Translated, dict[str, Any]]:
    """Translate a block, and store the translation in the cache."""
    translated, libraries = _translate(work)
    disk_cache = cache()
    if disk_cache is not None and not any(finding.code == "NP2TF905" for finding in translated.findings):
        code, findings, imports, names, jit_places = translated
        disk_cache.store(
            work.key, (code, tuple(map(tuple, findings)), imports, names, tuple(sorted(jit_places)))
        )
    return translated, libraries


def _translate(work: _Work) -> tuple[_Translated, dict[str, Any]]:
    # Imported only here, because it loads the translator.
    from np2tf.loading.code.boundaries import add_boundaries
    from np2tf.loading.code.source_lines import SourceMap
    from np2tf.translator.pipeline import translate
    from np2tf.translator.tree.source import Source, SourceError

    block, functions, options, with_boundaries, first_lines = work
    try:
        source = Source.of(block.text, block.path)
    except SourceError as error:
        raise UntranslatableError(error.diagnostic.message) from None
    result = translate(source, options)
    findings = tuple(_relocate_finding(Finding.of(diagnostic), block) for diagnostic in result.diagnostics)
    unchanged: tuple[_Translated, dict[str, Any]] = _Translated(None, findings), {}
    if not result.changed and not with_boundaries:
        return unchanged
    if result.changed:
        tree = ast.parse(result.text)
        SourceMap(source, result).relocate(tree, block.down, block.right)
        block.place(tree)
    else:
        tree = ast.increment_lineno(ast.parse(block.text), block.down)
        block.place(tree)
    tree.body = [statement for statement in tree.body if not is_stand_in(statement)]
    imports = _take_out_imports(tree)
    imported = _imported(imports, block)
    libraries = {**imported, **NAMES}
    jit_places = _take_off_decorators(tree, first_lines)
    if not result.changed and not any(isinstance(node, _OF_ARRAYS) for node in ast.walk(tree)):
        return unchanged
    before = "" if result.changed else ast.dump(tree)
    add_boundaries(tree, _relocate(block.text, block), result.compiler_functions)
    if not result.changed and ast.dump(tree) == before:
        return unchanged
    code = _compile_block(tree, block, functions, libraries)
    return _Translated(code, findings, imports, tuple(imported), frozenset(jit_places)), libraries


def _relocate(text: str, block: Block) -> ast.Module:
    """Return the source as a tree, with its places in the file."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno += block.down
    block.place(tree)
    return tree


def _relocate_finding(finding: Finding, block: Block) -> Finding:
    return finding._replace(line=block.file_line(finding.line), column=finding.column + block.right)


def _take_out_imports(tree: ast.Module) -> str:
    """Remove the imports at the top of the translation, and return them as text."""
    imports: list[ast.stmt] = [
        statement for statement in tree.body if isinstance(statement, (ast.Import, ast.ImportFrom))
    ]
    tree.body = [statement for statement in tree.body if statement not in imports]
    return ast.unparse(ast.Module(imports, []))


def _imported(imports: str, block: Block) -> dict[str, Any]:
    """Return the objects that the imports bind to names that do not mean the same object for the user."""
    libraries: dict[str, Any] = {}
    exec(compile(imports, block.path, "exec"), libraries)
    return {
        name: value
        for name, value in libraries.items()
        if name != "__builtins__" and block.names.get(name, _ABSENT) is not value
    }


_ABSENT = object()


def _take_off_decorators(tree: ast.Module, first_lines: dict[tuple[str, int], int]) -> set[tuple[str, int]]:
    """Remove all decorators, because the source's have been or will be applied.

    Returns:
        The name and line of each function that had `@np2tf.jit`.
    """
    places = set()
    # Inner decorators run with the function around them.
    for node, _ in functions_of(tree.body, everywhere=True):
        place = (node.name, node.lineno)
        if any(ast.unparse(decorator) == "np2tf.jit" for decorator in node.decorator_list):
            places.add(place)
        # A function begins at the line of its first decorator: a decorator that never runs keeps the line.
        first = first_lines.get(place, node.lineno)
        here: Any = {"lineno": first, "end_lineno": first, "col_offset": 0, "end_col_offset": 0}
        node.decorator_list = [ast.Constant(None, **here)] if first != node.lineno else []
    return places


def _compile_block(
    tree: ast.Module, block: Block, functions: Sequence[types.FunctionType], libraries: dict[str, Any]
) -> types.CodeType:
    """Return the code of a function that contains the block, with the closure variables as its parameters.

    What the block defines is global, unless the functions have it as a closure variable: there they find
    themselves, and the class that they are methods of. (The function around the block is never called.)
    """
    names = dict.fromkeys([name for function in functions for name in function.__code__.co_freevars])
    names.update(dict.fromkeys(libraries))
    # (`if True:` keeps a block indented.)
    body = [part for node in tree.body for part in (node.body if isinstance(node, ast.If) else [node])]
    defined = {node.name for node in body if isinstance(node, DEFINITIONS)} - names.keys()
    scope = f"global {', '.join(sorted(defined))}" if defined else "pass"
    factory = ast.parse(f"def {_FACTORY}({', '.join(names)}): {scope}")
    factory.body[0].body += tree.body  # type: ignore[attr-defined]
    flags = functions[0].__code__.co_flags & _FUTURE
    return compile(ast.fix_missing_locations(factory), block.path, "exec", flags, dont_inherit=True)


#: `from __future__ import annotations`, the only future feature that present code can have.
_FUTURE = 0x1000000


def _codes(code: types.CodeType) -> Iterator[tuple[tuple[str, int], types.CodeType]]:
    """Yield code objects by name and line of the definition; inner code comes first."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
            yield (constant.co_name, constant.co_firstlineno), constant


def _make_function(
    old: types.FunctionType, code: types.CodeType, libraries: dict[str, Any], jitted: bool
) -> Any:
    cells = dict(zip(old.__code__.co_freevars, old.__closure__ or ()))
    closure = []
    for name in code.co_freevars:
        if name not in cells:
            if name not in libraries:
                raise UntranslatableError(f"`{name}` means something else in another function there")
            cells[name] = types.CellType(libraries[name])
        closure.append(cells[name])
    if sys.version_info >= (3, 11):  # tracebacks show the qualified name
        code = code.replace(co_qualname=old.__code__.co_qualname)
    new = types.FunctionType(code, old.__globals__, old.__name__, old.__defaults__, tuple(closure))
    note_translated(code)
    new.__kwdefaults__ = old.__kwdefaults__
    new.__dict__.update(old.__dict__)
    for name in ("__doc__", "__annotations__", "__qualname__", "__module__", "__type_params__"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    if not jitted:
        return new
    import np2tf

    return np2tf.jit(new)

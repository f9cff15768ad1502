"""The code of a module's functions as in the source, beside the code of their translations.

On NumPy's own arrays the source's code means the same as its translation, and runs at NumPy's speed. It can
run over the translated module's globals, so that both versions see each other's changes. Only the names that
the source imports from NumPy are stored there under names that no program can write, because the translation
may use the source's names for something else.
"""

from __future__ import annotations

import ast
import builtins
import dis
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from np2tf.loading.code.boundaries import is_jitted
from np2tf.loading.findings import Originals
from np2tf.loading.loops.loop_functions import Loops, with_variants
from np2tf.loading.loops.watched_code import watch_functions
from np2tf.staging.host.originals import below_numpy
from np2tf.staging.host.watched_loops import WATCH
from np2tf.staging.objects.code_names import codes_within
from np2tf.translator.sources.candidates import may_make_tensors
from np2tf.translator.sources.python_trees import first_line, numpy_imports, own_statements

#: A flag that the code of functions has, and the code of classes and modules has not: it has local variables.
_CO_OPTIMIZED = 0x1
#: Flags of code that takes *args and **kwargs, and of generators and coroutines.
_CO_VARARGS, _CO_VARKEYWORDS, _CO_SUSPENDABLE = 0x4, 0x8, 0x2A0
#: Instructions that bind or unbind a name of the module: at its top, and in functions.
_AT_TOP = ("STORE_NAME", "DELETE_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_IN_FUNCTIONS = ("STORE_GLOBAL", "DELETE_GLOBAL")
_READS, _ATTRIBUTES = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD")
#: Methods that NumPy 2 has removed: only the translation has their replacements.
REMOVED_METHODS = frozenset({"itemset", "newbyteorder", "ptp"})
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_ABSENT = object()
Path = tuple[str, ...]


def originals_of(
    data: bytes, path: str, tree: ast.Module, translated_code: types.CodeType, loops: Loops
) -> Originals:
    """Return the source's code of functions for the code of their translations.

    Args:
        tree: the translation, with the source's places.
    """
    with warnings.catch_warnings():
        # Python has given these warnings when the module was parsed.
        warnings.simplefilter("ignore")
        source = ast.parse(data, path)
        _count_the_users_frames(source, tree)
        module = compile(source, path, "exec", dont_inherit=True)
    numpy = _numpys(source, module)
    available_names = _bound_names(translated_code) | numpy.keys()
    missing_names = _bound_names(module) - available_names
    names = {name: f"np2tf: {name}" for name in numpy}
    values = {name: below_numpy_if_there(below) for name, below in numpy.items()}
    jit_lines = jitted_lines(tree)
    sources: dict[str, list[tuple[types.CodeType, bool]]] = {}
    for name, code, outermost in functions_in(module):
        sources.setdefault(name, []).append((code, outermost))
    makes_tensors = may_make_tensors(data)
    pairs = []
    for name, code, outermost in functions_in(translated_code):
        candidates = [
            inner_code
            for inner_code, out in sources.get(name, ())
            if out == outermost and _at_one_place(inner_code, code)
        ]
        if (
            len(candidates) != 1
            or candidates[0] == code
            or not _is_clear(candidates[0], missing_names, values)
        ):
            continue
        original = _rename_globals(candidates[0], names)
        if original is None:
            continue
        may_stand_in = (
            outermost
            and code.co_firstlineno not in jit_lines
            and original.co_freevars == code.co_freevars
            and not code.co_flags & _CO_SUSPENDABLE
            and _inner(original) <= _COMPREHENSIONS
            and not makes_tensors
        )
        pairs.append((code, original, may_stand_in))
    name_paths = tuple((names[name], numpy[name]) for name in numpy)
    loop_codes, functions = watched_codes(
        source, path, jit_lines, names, [code for code, _, _ in pairs], loops
    )
    entries = [
        (
            code,
            original if code.co_firstlineno in jit_lines else loop_codes.get(id(code), original),
            may_stand_in,
        )
        for code, original, may_stand_in in pairs
    ]
    hot = jitted_codes([code for code, _, _ in pairs], loop_codes, jit_lines)
    return Originals(np.__version__, name_paths, tuple(entries), hot, functions)


def jitted_codes(
    codes: list[types.CodeType], watched: Mapping[int, types.CodeType], jitted_lines: set[int]
) -> tuple[tuple[types.CodeType, types.CodeType], ...]:
    """Return the code of jitted functions that have watched loops, each with its code with these loops."""
    return tuple(
        (code, watched[id(code)])
        for code in codes
        if id(code) in watched and code.co_firstlineno in jitted_lines
    )


def watched_codes(
    source: ast.Module,
    path: str,
    jitted_lines: set[int],
    names: Mapping[str, str],
    translations: list[types.CodeType],
    loops: Loops,
) -> tuple[dict[int, types.CodeType], tuple[Any, ...]]:
    """Return code with watched loops.

    The first result maps the id of a translation's code to the source's code with watched loops. The second
    result holds the loops' own functions, each with its code.
    """
    if not loops:
        return {}, ()
    watch_functions(source, path, loops, jitted_lines)
    module = compile(ast.fix_missing_locations(source), path, "exec", dont_inherit=True)
    functions = list(functions_in(module))
    alone = {name: code for name, code, _ in functions}
    loop_codes = {}
    for translation in translations:
        loops_of_place = [
            function_code
            for name, function_code, outermost in functions
            if outermost
            and WATCH in function_code.co_names
            and function_code.co_name == translation.co_name
            and _at_one_place(function_code, translation)
        ]
        new_code = _rename_globals(loops_of_place[0], names) if len(loops_of_place) == 1 else None
        if new_code is not None:
            loop_codes[id(translation)] = new_code
    loop_functions = [
        (tuple(loop), _rename_globals(alone[loop.name], names)) for loop in with_variants(loops)
    ]
    return loop_codes, tuple(loop for loop in loop_functions if loop[1] is not None)


def _count_the_users_frames(source: ast.Module, translation: ast.Module) -> None:
    """Call `np2tf.warn` where the translation calls it, because frames of np2tf are also around the source's
    code.
    """
    places = {
        (node.lineno, node.col_offset)
        for node in ast.walk(translation)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np2tf.warn", "np2tf.call(np2tf.warn)")
    }
    for node in ast.walk(source) if places else ():
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) in places:
            warn = ast.parse("np2tf.warn", mode="eval").body
            for part in ast.walk(warn):
                ast.copy_location(part, node.func)
            node.func = warn


# -- names of NumPy ------------------------------------------------------------------------------------------


def _numpys(tree: ast.Module, module: types.CodeType) -> dict[str, Path]:
    """Return the names that a source binds at its top only by imports from NumPy, always of the same
    object.
    """
    paths: dict[str, list[Path]] = {}
    for statement in own_statements(tree.body):
        for name, path in numpy_imports(statement):
            paths.setdefault(name, []).append(path)
    store_names = [
        instruction.argval for instruction in dis.get_instructions(module) if instruction.opname in _AT_TOP
    ]
    in_functions = {
        instruction.argval
        for _, code, _ in functions_in(module)
        for instruction in dis.get_instructions(code)
        if instruction.opname in _IN_FUNCTIONS
    }
    return {
        name: paths_of_name[0]
        for name, paths_of_name in paths.items()
        if len(set(paths_of_name)) == 1
        and store_names.count(name) == len(paths_of_name)
        and name not in in_functions
        and below_numpy_if_there(paths_of_name[0]) is not _ABSENT
    }


def below_numpy_if_there(path: Path) -> Any:
    """Return the object at a path below `numpy`; `is_there` tells that it is none."""
    try:
        return below_numpy(path)
    except ImportError:
        return _ABSENT


def _attribute(value: Any, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(value, name, _ABSENT)


# -- the code ------------------------------------------------------------------------------------------------


def functions_in(code: types.CodeType, prefix: str = "", outermost: bool = True) -> Iterator[Any]:
    """Yield each function's qualified name, its code, and whether no other function is around it."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            name = prefix + inner.co_name
            if inner.co_flags & _CO_OPTIMIZED:
                yield name, inner, outermost
                yield from functions_in(inner, f"{name}.<locals>.", False)
            else:
                yield from functions_in(inner, f"{name}.", outermost)


def _at_one_place(first: types.CodeType, second: types.CodeType) -> bool:
    return first.co_firstlineno == second.co_firstlineno and _parameters(first) == _parameters(second)


def _parameters(code: types.CodeType) -> tuple[Any, ...]:
    flags = code.co_flags & (_CO_VARARGS | _CO_VARKEYWORDS | _CO_SUSPENDABLE)
    count = (
        code.co_argcount + code.co_kwonlyargcount + bool(flags & _CO_VARARGS) + bool(flags & _CO_VARKEYWORDS)
    )
    return code.co_argcount, code.co_posonlyargcount, code.co_varnames[:count], flags


def _bound_names(module: types.CodeType) -> set[str]:
    """Return the names that a module binds at its top."""
    return {
        instruction.argval for instruction in dis.get_instructions(module) if instruction.opname in _AT_TOP
    }


def jitted_lines(tree: ast.Module) -> set[int]:
    """Return the first lines of the functions that are decorated with `np2tf.jit`."""
    return {
        first_line(node)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_jitted(node)
    }


def _is_clear(code: types.CodeType, missing_names: set[str], numpy: Mapping[str, Any]) -> bool:
    """Return whether all globals that the code reads will exist, and NumPy has the attributes that it
    reads.
    """
    return all(
        missing_names.isdisjoint(_read(inner_code))
        and REMOVED_METHODS.isdisjoint(inner_code.co_names)
        and all(is_there(chain, numpy) for chain in _chains(inner_code))
        and not _asks_for_identity(inner_code, numpy)
        for inner_code in codes_within(code)
    )


def _read(code: types.CodeType) -> set[str]:
    """Return the global names that code reads."""
    return {instruction.argval for instruction in dis.get_instructions(code) if instruction.opname in _READS}


def _chains(code: types.CodeType) -> Iterator[list[str]]:
    """Yield the chains of attributes that are read from globals: ``np.linalg.norm``."""
    chain: list[str] = []
    for instruction in dis.get_instructions(code):
        chain = _longer(chain, instruction)
        if len(chain) > 1:
            yield chain


def _longer(chain: list[str], instruction: dis.Instruction) -> list[str]:
    """Return the chain of names that ends at an instruction; `chain` ends at the instruction before."""
    if instruction.opname in _READS:
        return [instruction.argval]
    return [*chain, instruction.argval] if chain and instruction.opname in _ATTRIBUTES else []


def is_there(chain: list[str], numpy: Mapping[str, Any]) -> bool:
    """Return whether NumPy has such attributes; only the translation provides attributes that NumPy has
    removed.
    """
    value = numpy.get(chain[0])
    for name in chain[1:]:
        if not isinstance(value, types.ModuleType):
            return True
        value = _attribute(value, name)
    return value is not _ABSENT


def _asks_for_identity(code: types.CodeType, numpy: Mapping[str, Any]) -> bool:
    """Return whether code tests the identity of an object that is neither a class nor a constant, or compares
    with a function of NumPy.

    The object compared with a NumPy function of the source may be np2tf's function.
    """
    known = {**vars(builtins), **numpy}
    before: dis.Instruction | None = None
    chain: list[str] = []
    operands: list[Any] = [None, None]
    for instruction in dis.get_instructions(code):
        value = known.get(chain[0]) if chain else None
        for name in chain[1:]:
            value = _attribute(value, name)
        is_test = instruction.opname == "IS_OP" and before is not None and before.opname != "LOAD_CONST"
        if is_test and not isinstance(value, type):
            return True
        if instruction.opname in _COMPARISONS and any(
            isinstance(operand, _NUMPY_FUNCTIONS) for operand in (*operands, value)
        ):
            return True
        if instruction.opname not in _ATTRIBUTES and instruction.opname not in _DISPLAYS:
            operands = [operands[1], value]
        chain = _longer(chain, instruction)
        before = instruction
    return False


_COMPARISONS = frozenset(("COMPARE_OP", "CONTAINS_OP"))
_DISPLAYS = frozenset(("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET"))
_NUMPY_FUNCTIONS = (np.ufunc, type(np.sum))


def _inner(code: types.CodeType) -> set[str]:
    """Return the names of the code objects inside a code object."""
    return {inner_code.co_name for inner_code in codes_within(code) if inner_code is not code}


def _rename_globals(code: types.CodeType, names: Mapping[str, str]) -> types.CodeType | None:
    """Return the code with other names for globals; None if a name is also used in another way."""
    consts = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constant = _rename_globals(constant, names)
            if constant is None:
                return None
        consts.append(constant)
    name_instructions = (
        instruction for instruction in dis.get_instructions(code) if instruction.opcode in dis.hasname
    )
    if any(
        instruction.argval in names and instruction.opname not in _READS for instruction in name_instructions
    ):
        return None
    new_names = tuple(names.get(name, name) for name in code.co_names)
    return code.replace(co_names=new_names, co_consts=tuple(consts))

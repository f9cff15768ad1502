"""The tables of rules/tensorflow: the translations of NumPy's names, and the helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from np2tf import rules


@dataclass(frozen=True)
class Function:
    """The facts about one function of NumPy."""

    name: str
    parameters: tuple[str, ...]
    """In NumPy's order; a call may give those whose name is not `_`."""
    result: str
    helper: str
    """The helper that takes its place, or nothing …"""
    only_with_arrays: bool
    """… which it does only where an argument may hold arrays."""


@dataclass(frozen=True)
class Draw:
    """The facts about one method of NumPy's random generators, or function of `numpy.random`."""

    dtype: str
    """The dtype of its result; nothing if the dtype is that of the first argument."""
    size: int | None
    """The position of the parameter `size`; None if the positional arguments are the lengths of the axes."""
    axes: int
    """The number of axes of one draw."""


@dataclass(frozen=True)
class Table:
    """The contents of rules/tensorflow/functions.toml, without the examples."""

    functions: Mapping[str, Function]
    constants: Mapping[str, str]
    dtypes: Mapping[str, str]
    methods: frozenset[str]
    writes: Mapping[str, str]
    draws: Mapping[str, Draw]
    generators: frozenset[str]
    """The functions and classes of `numpy.random` that make generators and their seeds."""


@lru_cache(maxsize=1)
def table() -> Table:
    """Return the table of NumPy's names that the target translates."""
    data = rules.read_table("tensorflow/functions")
    functions = {}
    for group in data["group"]:
        helper = group.get("helper", False)
        for name in group["names"]:
            helper_name = "_" + name.replace(".", "_") if helper else ""
            functions[name] = Function(
                name, tuple(group["parameters"]), group["result"], helper_name, helper == "with arrays"
            )
    methods = frozenset(data["methods"]["names"])
    random = rules.read_table("tensorflow/draws")
    draws = {
        name: Draw(group.get("dtype", ""), group.get("size"), group.get("axes", 0))
        for group in random["draws"]
        for name in group["names"]
    }
    generators = frozenset(random["generators"]["names"])
    return Table(functions, data["constants"], data["dtypes"], methods, data["writes"], draws, generators)


@lru_cache(maxsize=1)
def _helpers() -> dict[str, str]:
    """Return the text of every helper, in the order of the files."""
    texts = {}
    for file in ("helpers.py", "control.py"):
        text = (rules.rules_folder() / "tensorflow" / file).read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                texts[node.name] = ast.get_source_segment(text, node) or ""
    return texts


def helpers_with(names: Iterable[str]) -> dict[str, str]:
    """Return the texts of helpers, and of the helpers that they call, in the file's order."""
    every = _helpers()
    helper_names: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in helper_names:
            helper_names.add(name)
            identifiers = {node.id for node in ast.walk(ast.parse(every[name])) if isinstance(node, ast.Name)}
            stack += identifiers & every.keys()
    return {name: text for name, text in every.items() if name in helper_names}

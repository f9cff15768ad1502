"""The table of the constructs that are lowered, by the class of their nodes.

Each file of a construct in this folder defines its row, `CONSTRUCTS`. The table finds new files by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TypeVar

import libcst as cst

from np2tf.rewrites.control import constructs
from np2tf.translate.control.construct import ExpressionConstruct, SmallConstruct, StatementConstruct

_Construct = TypeVar("_Construct", StatementConstruct, SmallConstruct, ExpressionConstruct)

_MODULES = [
    importlib.import_module(f"{constructs.__name__}.{module.name}")
    for module in pkgutil.iter_modules(constructs.__path__)
    if module.name != __name__.rpartition(".")[2]
]


def _of_kind(kind: type[_Construct]) -> dict[type[cst.CSTNode], _Construct]:
    """Return the constructs of one kind, by the kind of node."""
    rows = (row for module in _MODULES for row in getattr(module, "CONSTRUCTS", {}).items())
    return {node: construct for node, construct in rows if isinstance(construct, kind)}


STATEMENTS = _of_kind(StatementConstruct)
SMALL = _of_kind(SmallConstruct)
EXPRESSIONS = _of_kind(ExpressionConstruct)

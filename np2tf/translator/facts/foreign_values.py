"""Libraries whose values are not NumPy's: functions that use them stay as they are in a converted file, with
their names of NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.classes import Classes
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import dotted_name, walk, words

#: Libraries with arrays or expressions of their own. What works on their values has nothing to gain here.
OF_VALUES = words(
    """
    torch torchvision torchaudio sympy mpmath jax jaxlib flax tensorflow keras cupy mxnet theano casadi dask
    numba
    """
)
#: Libraries that draw, show windows, and talk to files, databases and other machines.
OF_ACTIONS = words(
    """
    matplotlib pylab seaborn plotly bokeh mayavi vtk OpenGL pyqtgraph PyQt5 PyQt6 PySide2 PySide6 tkinter
    turtle pygame pyglet vpython cv2 PIL sqlite3 sqlalchemy psycopg2 pymysql pymongo redis requests urllib
    socket serial subprocess
    """
)
#: Modules that work on lists, texts and tables, or whose functions are not known: no compiled code has these.
OF_OBJECTS = words(
    """
    heapq bisect queue collections json csv pickle re pathlib shutil argparse pandas xarray networkx sklearn
    skimage statsmodels astropy shapely
    """
)


class ForeignValues:
    """The names that a module imports from such libraries."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        imports = [*facts.nodes(cst.Import), *facts.nodes(cst.ImportFrom)]
        self._libraries = {name: library for node in imports for name, library in _imported_names(node)}

    def use(self, function: cst.FunctionDef, libraries: frozenset[str]) -> tuple[cst.Name, str] | None:
        """Return the first use of one of these libraries in a function, or among the bases of its class, with
        the library.
        """
        if libraries.isdisjoint(self._libraries.values()):
            return None
        for node in [*walk(function), *self._bases(function)]:
            library = self._libraries.get(node.value, "") if type(node) is cst.Name else ""
            if library in libraries and self._is_imported(node):
                return cast("cst.Name", node), library
        return None

    def of_scipy(self, function: cst.FunctionDef) -> cst.Call | None:
        """Return the first call of a function of SciPy that compiled code does not have."""
        if "scipy" not in self._libraries.values():
            return None
        calls = (node for node in walk(function) if type(node) is cst.Call)
        names = ((call, self._facts.imports.imported_name(call.func) or "") for call in calls)
        return next(
            (call for call, name in names if name.startswith("scipy.") and name not in rules.scipy()), None
        )

    def _is_imported(self, node: cst.CSTNode) -> bool:
        """Return whether an import may bind a name where it is used."""
        owner = self._facts.scopes.owner(node) if type(node) is cst.Name else None
        bindings = [] if owner is None else owner.bindings[node.value]  # type: ignore[attr-defined]
        return any(type(binding) is cst.ImportAlias for binding in bindings)

    def _bases(self, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
        around = self._facts.parents.nearest(function, cst.ClassDef, cst.FunctionDef)
        for kind in self._facts.get(Classes).lineage(around) if type(around) is cst.ClassDef else ():
            for base in kind.bases:
                yield from walk(base)


def nodes_left(facts: Facts) -> frozenset[cst.CSTNode]:
    """Return every node of the functions that stay as they are because they use such libraries."""
    if not facts.leaves_foreign:
        return frozenset()
    foreign = facts.get(ForeignValues)
    return frozenset(
        node
        for function in facts.nodes(cst.FunctionDef)
        if facts.parents.nearest(function, cst.FunctionDef) is None
        and foreign.use(function, OF_VALUES | OF_ACTIONS) is not None
        for node in walk(function)
    )


def _imported_names(node: cst.CSTNode) -> list[tuple[str, str]]:
    """Return the names that an import statement binds, each with the library that it comes from."""
    if type(node) is cst.Import:
        names = [
            (alias.evaluated_alias or alias.evaluated_name, alias.evaluated_name) for alias in node.names
        ]
        return [(name.partition(".")[0], module.partition(".")[0]) for name, module in names]
    if type(node) is not cst.ImportFrom or node.relative or isinstance(node.names, cst.ImportStar):
        return []
    library = (dotted_name(node.module) or "").partition(".")[0] if node.module is not None else ""
    return [(alias.evaluated_alias or alias.evaluated_name, library) for alias in node.names]

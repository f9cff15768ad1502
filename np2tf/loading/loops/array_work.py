"""Which functions and loops of a source work on arrays, by themselves or by what they call."""

from __future__ import annotations

import ast
import os

from np2tf.loading.loops.names import Function, functions_of, walk
from np2tf.translator.sources.python_trees import imports_in, numpy_imports


class ArrayWork:
    """What works on arrays in a source.

    Attributes:
        numpy: the names that the source imports from NumPy, and their paths below `numpy`.
        own: the names of its functions and methods, which may do anything where they are called, or read.

    Args:
        source: the tree of the source.
        path: its file, beside which the modules of the program are.
    """

    def __init__(self, source: ast.Module, path: str) -> None:
        self.numpy = dict(name for node in ast.walk(source) for name in numpy_imports(node))
        folder = os.path.dirname(path)
        self._names = self.numpy.keys() | {
            name
            for node in ast.walk(source)
            for name, module, _ in imports_in(node)
            if is_beside(folder, module)
        }
        self._methods: set[str] = set()
        functions = list(functions_of(source.body))
        self.own = {function.name for function, _ in functions}
        found = 1
        while found:  # a function that calls such a function works on arrays, too
            new = [pair for pair in functions if self.is_in(pair[0])]
            found = len(new)
            functions = [pair for pair in functions if pair not in new]
            self._methods |= {function.name for function, in_class in new if in_class}
            self._names |= {function.name for function, in_class in new if not in_class}

    def is_in(self, node: Function | ast.For | ast.While) -> bool:
        """Return whether the text of a loop or function shows work on arrays, for which watching is cheap.

        The signs are NumPy's name, slices, an inner loop over elements, and calls of what shows such signs.
        """
        nodes = list(walk(node.body))
        if any(isinstance(part, ast.Name) and part.id in self._names for part in nodes):
            return True
        calls = (part.func for part in nodes if isinstance(part, ast.Call))
        if any(isinstance(function, ast.Attribute) and function.attr in self._methods for function in calls):
            return True
        keys = [part.slice for part in nodes if isinstance(part, ast.Subscript)]
        keys += [axis for part in keys if isinstance(part, ast.Tuple) for axis in part.elts]
        if any(isinstance(part, ast.Slice) for part in keys):
            return True
        has_loop = any(isinstance(part, (ast.For, ast.While)) for part in nodes)
        return has_loop and any(isinstance(part, ast.Tuple) for part in keys)


def is_beside(folder: str, module: str) -> bool:
    """Return whether a module is a file or package beside the source."""
    top = module.partition(".")[0]
    if not top:
        return True  # a relative import
    return os.path.exists(os.path.join(folder, f"{top}.py")) or os.path.isdir(os.path.join(folder, top))

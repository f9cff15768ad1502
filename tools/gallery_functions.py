"""Makes the translations of the functions in docs/gallery.md, for np2tf and for TensorFlow."""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any, NamedTuple

_TEST = "tests/docs/test_gallery_functions.py"
_SOURCE = re.compile(r"^```python title=\"(\w+): NumPy\"\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_BY_HAND = re.compile(r"^```python title=\"(\w+): by hand\"\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
#: What this tool has made, between a source and what is written by hand.
_MADE = re.compile(
    r"\n<!-- [^\n]* holds that these are the translations -->\n.*?(?=\n```python title=\"\w+: by hand\")",
    re.DOTALL,
)
_IMPORT_NUMPY = "import numpy as np\n\n\n"
_IMPORT_TENSORFLOW = (
    "import tensorflow as tf\nimport tensorflow.experimental.numpy as tnp\n"
    "tnp.experimental_enable_numpy_behavior()\n\n\n"
)


class Versions(NamedTuple):
    """A function four times, each as the text of a module.

    Attributes:
        name: the function's name.
        numpy: the source.
        np2tf: its translation.
        tensorflow: its translation for TensorFlow alone.
        by_hand: what a person would write for TensorFlow.
    """

    name: str
    numpy: str
    np2tf: str
    tensorflow: str
    by_hand: str


def functions(page: str) -> dict[str, Versions]:
    """Return the functions of the page by their names."""
    by_hand = dict(_BY_HAND.findall(page))
    return {name: _versions(name, text, by_hand[name]) for name, text in _SOURCE.findall(page)}


def _versions(name: str, text: str, by_hand: str) -> Versions:
    from np2tf import Options, convert

    source = _IMPORT_NUMPY + text
    return Versions(
        name,
        source,
        convert(source).text,
        convert(source, Options(target="tf")).text,
        _IMPORT_TENSORFLOW + by_hand,
    )


def with_translations(page: str) -> str:
    """Return the page with the present translations behind each function."""
    page = _MADE.sub("", page)
    versions = functions(page)

    def extended(source: re.Match[str]) -> str:
        name = source[1]
        function = versions[name]
        return (
            f"{source[0]}\n<!-- {_TEST} holds that these are the translations -->\n"
            f'```python title="{name}: np2tf convert"\n{_without_imports(function.np2tf)}```\n\n'
            f'```python title="{name}: np2tf convert --target tf"\n{_own_part(function.tensorflow)}```\n'
            f"{_about_helpers(function.tensorflow)}"
        )

    return _SOURCE.sub(extended, page)


def value_of(text: str, name: str) -> Any:
    """Return the function of a module's text."""
    names: dict[str, Any] = {"__name__": f"gallery_{name}"}
    path = f"<gallery {name} {len(linecache.cache)}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path  # AutoGraph reads sources
    exec(compile(text, path, "exec"), names)
    return names[name]


def _without_imports(text: str) -> str:
    first = next(node for node in ast.parse(text).body if not isinstance(node, (ast.Import, ast.ImportFrom)))
    return _lines_from(text, first)


def _own_part(text: str) -> str:
    """Return the translation without its imports and helpers."""
    own = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return _lines_from(text, next(node for node in own if not node.name.startswith("_")))


def _lines_from(text: str, node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "".join(text.splitlines(keepends=True)[first - 1 :])


def _about_helpers(text: str) -> str:
    """Return the sentence that tells which helpers the translation for TensorFlow has."""
    found = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_")
    ]
    if not found:
        return ""
    names = ", ".join(f"`{node.name}`" for node in found)
    lines = sum((node.end_lineno or 0) - node.lineno + 1 for node in found)
    return f"\nHelpers in that file: {names}; {lines} lines.\n"

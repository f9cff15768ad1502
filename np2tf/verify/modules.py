"""Makes module objects from text in memory: one for the original, and one for the translation."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType


class TextLoader(importlib.abc.InspectLoader):
    """A loader of one module from text. Tracebacks show `label` in the place of the file's name."""

    def __init__(self, text: str, label: str) -> None:
        self.text = text
        self.label = label

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.label)

    def is_package(self, fullname: str) -> bool:
        return False


@contextmanager
def module_from_text(text: str, path: Path, name: str, label: str) -> Iterator[ModuleType]:
    """Execute `text` as a module under the private `name`, with `path` as its `__file__`.

    Inside the `with` block the module is in `sys.modules`, where pickle and dataclasses look for it, and its
    folder is the first of `sys.path`. Both are restored afterwards. Tracebacks show the text's lines under
    the label.

    Args:
        text: the source of the module.
        path: the file that the module takes itself for.
        name: the name of the module in `sys.modules`.
        label: the file name that tracebacks show.

    Raises:
        ImportError: no module can be made of the text.
    """
    loader = TextLoader(text, label)
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    search_path, argv = list(sys.path), list(sys.argv)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.modules.pop(name, None)
        sys.path[:] = search_path
        sys.argv = argv

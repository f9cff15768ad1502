"""The modules that are translated together, and the names that these import from one another."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import libcst as cst

from np2tf.linking.modules import Modules
from np2tf.rewrites.tensorflow_target.model.classes import Classes
from np2tf.rewrites.tensorflow_target.model.values import NO_VALUE, Value, plain

if TYPE_CHECKING:
    from np2tf.rewrites.tensorflow_target.model.world import Summary, World


class Program:
    """The modules that are translated together.

    Args:
        files: the modules' files, each with the folder that it was found under; none for a module alone.
        foreign_files: the files that stay as they are because no array gets there. Their functions count as
            functions of a library that takes no arrays.
    """

    def __init__(
        self, files: Iterable[tuple[str, str]] = (), foreign_files: frozenset[str] = frozenset()
    ) -> None:
        self._modules = Modules(files)
        self.foreign_files = foreign_files
        self.imports: dict[str, dict[str, cst.CSTNode]] = {}
        """For each file the modules of the program whose names it reads, with the importing node."""
        self.worlds: dict[str, World] = {}
        """The modules by their files."""
        self.summaries: dict[cst.CSTNode, Summary] = {}
        """The functions of all modules."""
        self.classes = Classes()
        """The classes of all modules."""
        self.has_new_facts = False
        """Whether this round has found a new fact that is not about a class."""

    @property
    def changed(self) -> bool:
        """Return whether this round has found a new fact."""
        return self.has_new_facts or self.classes.has_new_facts

    def begin_round(self) -> None:
        """Begin a round, which has found no new fact."""
        self.has_new_facts = self.classes.has_new_facts = False

    def module(self, name: str, file: str) -> Value | None:
        """Return the module that a file imports by a name; None if it is no module of the program.

        Args:
            name: the name; a name relative to the file's package begins with dots.
            file: the importing file.
        """
        is_relative = name.startswith(".")
        path = self._modules.relative(file, name) if is_relative else self._modules.absolute(name)
        return self._value_of(path)

    def member(self, module: Value, name: str) -> Value | None:
        """Return the value of a module's attribute: a global variable, or a module of the package.

        None if the program does not show such an attribute.
        """
        (file,) = module.modules
        world = self.worlds[file]
        value = world.read_global(name)
        if value.is_undetermined:
            bound = name in world.facts.scopes.module.bindings
            return NO_VALUE if bound else self._value_of(self._modules.below(file, name))
        if file in self.foreign_files and (value.functions or not value.is_plain):
            return plain("function", "other")
        return value

    def is_numpys(self, module: Value, name: str) -> bool:
        """Return whether a module imports an attribute from NumPy: its translation does not have it."""
        (file,) = module.modules
        facts = self.worlds[file].facts
        bindings = facts.scopes.module.bindings.get(name, ())
        return any(facts.imports.qualified_binding(binding) is not None for binding in bindings)

    def record_import(self, file: str, module: Value, node: cst.CSTNode) -> None:
        """Record that a file reads names of a module."""
        (imported_file,) = module.modules
        self.imports.setdefault(file, {})[imported_file] = node

    def import_in_cycle(self) -> tuple[str, cst.CSTNode] | None:
        """Return a file and its import of a module that also imports the file, if there is one."""
        try:
            TopologicalSorter({file: set(imports) for file, imports in self.imports.items()}).prepare()
        except CycleError as error:
            imported_file, file, *_ = error.args[1]
            return file, self.imports[file][imported_file]
        return None

    def _value_of(self, file: str | None) -> Value | None:
        if file is None or file not in self.worlds:
            return None
        return Value(frozenset(["module"]), modules=frozenset([file]))

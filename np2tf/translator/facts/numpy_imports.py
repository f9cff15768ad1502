"""The names under which a file uses NumPy, also if NumPy may be missing."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.scopes import Scope, Scopes
from np2tf.translator.sources.names_between_files import Reexport
from np2tf.translator.tree.nodes import Parents, bound_name, dotted_name, root_of, walk, words

# -- optional imports ----------------------------------------------------------------------------------------
# Names of NumPy that are None where NumPy cannot be imported: `np = None` in the handler of an import.


def binds_nothing(binding: cst.CSTNode, parents: Parents) -> bool:
    """Return whether a binding is `np = None`, or declares the type of a name without a value."""
    up = parents[binding]
    if type(up) is cst.AnnAssign:
        return up.value is None or _is_none(up.value)
    return _is_none(parents.assigned_value(binding))


def asks_for_none(use: cst.Name, parents: Parents) -> bool:
    """Return whether a use only asks if the name is None: `if np`, `np is None`, `np and …`, `bool(np)`."""
    node: cst.CSTNode = use
    up = parents[use]
    if type(up) is cst.Comparison:
        return up.left is node and len(up.comparisons) == 1 and _is_none(up.comparisons[0].comparator)
    if type(up) is cst.Arg:
        call = parents[up]
        return type(call) is cst.Call and type(call.func) is cst.Name and call.func.value == "bool"
    while type(up) is cst.BooleanOperation:
        if type(up.operator) is cst.And and up.left is node:
            return True
        node, up = up, parents[up]
    if type(up) is cst.UnaryOperation:
        return type(up.operator) is cst.Not
    return type(up) in (cst.If, cst.IfExp, cst.While, cst.Assert) and up.test is node  # type: ignore[union-attr]


def _is_none(node: cst.CSTNode | None) -> bool:
    return type(node) is cst.Name and node.value == "None"


# -- imports -------------------------------------------------------------------------------------------------
# Resolves expressions to NumPy names: aliases, from-imports, submodules, star imports, shadowing and
# redefinition.

_CHAIN = frozenset({cst.Name, cst.Attribute})
#: The names that exist without an import.
BUILTINS = frozenset(dir(builtins)) | words("__file__ __name__ __doc__ __path__ __package__ __spec__")
#: Names that `from numpy import *` does not import, so that Python's own stay.
_NOT_EXPORTED = words("long int float complex object str unicode")
#: Nodes whose names are not variables that are read.
_NAMES_ONLY = frozenset(
    {cst.ImportAlias, cst.ImportFrom, cst.AsName, cst.NameItem, cst.MatchKeywordElement, cst.TypeVar}
)


@dataclass(frozen=True, eq=False)
class NumpyImport:
    """An `import` or `from … import` statement that imports NumPy, also by way of another file."""

    node: cst.Import | cst.ImportFrom
    aliases: tuple[cst.ImportAlias, ...]
    """The aliases of the statement that refer to NumPy."""
    star: bool = False
    module: str = ""
    """The module of a from-import."""


@dataclass(frozen=True, eq=False)
class _Referent:
    """The object that the name of a scope refers to."""

    name: str | None
    """NumPy's name; None if the name is ambiguous."""
    or_none: bool = False
    """True if the name may also be None."""
    assigned_from: cst.Name | None = None
    """The `numpy` of `np = numpy`."""


_NO_REFERENT = _Referent(None)
"""Marks a name that is never NumPy's."""


@dataclass(eq=False)
class Imports:
    """The names under which this file uses NumPy."""

    scopes: Scopes
    parents: Parents
    statements: list[NumpyImport] = field(default_factory=list)
    ambiguous: dict[cst.Name, str] = field(default_factory=dict)
    """Uses of a name that may refer to NumPy or to something else."""
    tests_for_none: dict[cst.Name, str] = field(default_factory=dict)
    """Uses of a name of NumPy that only ask if it is None, because NumPy could not be imported."""
    assigned_from: dict[cst.Name, cst.Name] = field(default_factory=dict)
    """Uses of a name that was assigned from the name of an import, with that name: `np = numpy`."""
    other_stars: bool = False
    """True if the file also has a star import from a module other than NumPy."""
    tnp_name: str | None = None
    """The name that the file already gives to `np2tf.tnp`, if it imports it at its top level."""
    of_other_files: dict[cst.CSTNode, Reexport] = field(default_factory=dict)
    """The aliases that import NumPy's names from other files of the project."""
    _of_alias: dict[cst.CSTNode, str] = field(default_factory=dict)
    _resolutions: dict[cst.CSTNode, str | None] = field(default_factory=dict)
    _referents: dict[tuple[Scope, str], _Referent] = field(default_factory=dict)
    _star_modules: list[str] = field(default_factory=list)
    _star_names: dict[str, str] = field(default_factory=dict)
    """NumPy's names that star imports from other files of the project bind, with their qualified names."""

    @classmethod
    def of(
        cls, module: cst.Module, scopes: Scopes, parents: Parents, reexports: Sequence[Reexport] = ()
    ) -> Imports:
        """Find the imports of a module; `reexports` are the names of NumPy that other files have for it."""
        self = cls(scopes, parents)
        by_place = {(reexport.module, reexport.name): reexport for reexport in reexports}
        for node in walk(module):
            kind = type(node)
            if kind is cst.Import:
                self._plain(node)  # type: ignore[arg-type]
            elif kind is cst.ImportFrom:
                self._from(node)  # type: ignore[arg-type]
                if by_place:
                    self._from_other_file(node, by_place)  # type: ignore[arg-type]
        return self

    @property
    def imports_numpy(self) -> bool:
        """Return whether the file imports NumPy at all."""
        return bool(self.statements)

    def numpy_name(self, node: cst.CSTNode) -> str | None:
        """Return the NumPy name, as `numpy.linalg.norm`, that exactly this expression means; else None."""
        if type(node) not in _CHAIN or not self.statements:
            return None
        if node not in self._resolutions:
            self._resolutions[node] = self._resolve(node)  # type: ignore[arg-type]
        return self._resolutions[node]

    def imported_name(self, node: cst.CSTNode) -> str | None:
        """Return the dotted name of an object imported from any module, with the import's leading dots."""
        root, path = root_of(node), dotted_name(node)
        if type(root) is not cst.Name or path is None:
            return None
        owner = self.scopes.owner(root)
        bindings = owner.bindings[root.value] if owner is not None else []
        alias = bindings[0] if len(bindings) == 1 else None
        if type(alias) is not cst.ImportAlias:
            return None
        around = self.parents[alias]
        tail = path.removeprefix(root.value)
        if type(around) is cst.ImportFrom:
            module = f"{dotted_name(around.module)}." if around.module is not None else ""
            return f"{'.' * len(around.relative)}{module}{alias.evaluated_name}{tail}"
        return (alias.evaluated_name if alias.asname is not None else root.value) + tail

    def qualified_binding(self, binding: cst.CSTNode) -> str | None:
        """Return the NumPy name that a binding imports, if it is an import of NumPy."""
        return self._of_alias.get(binding)

    def names_of(self, qualified_name: str) -> set[str]:
        """Return the names that this file's imports give to a NumPy name or module."""
        return {
            bound_name(alias)  # type: ignore[arg-type]
            for alias, full in self._of_alias.items()
            if full == qualified_name
        }

    def aliases_of(self, qualified_name: str) -> list[cst.CSTNode]:
        """Return the import aliases that bring in a NumPy name or module."""
        return [alias for alias, full in self._of_alias.items() if full == qualified_name]

    def star_name(self, name: str) -> str | None:
        """Return the NumPy name that a star import binds to a name which nothing else in the file binds."""
        if name in self._star_names:
            return self._star_names[name]
        if self.other_stars or name in _NOT_EXPORTED:
            return None
        for module in reversed(self._star_modules):
            rule = rules.find(f"{module}.{name}")
            if rule is not None and not rule.removed:
                return rule.name
        return None

    # -- collecting
    # ----------------------------------------------------------------------------------------------

    def _plain(self, node: cst.Import) -> None:
        numpy_aliases = []
        for alias in node.names:
            name = dotted_name(alias.name) or ""
            if name.split(".")[0] == "numpy":
                self._of_alias[alias] = name if alias.asname is not None else "numpy"
                numpy_aliases.append(alias)
        if numpy_aliases:
            self.statements.append(NumpyImport(node, tuple(numpy_aliases)))

    def _from(self, node: cst.ImportFrom) -> None:
        module = dotted_name(node.module) if not node.relative else None
        is_numpy = module is not None and module.split(".")[0] == "numpy"
        if isinstance(node.names, cst.ImportStar):
            if is_numpy and module is not None:
                self.statements.append(NumpyImport(node, (), star=True, module=module))
                self._star_modules.append(module)
            else:
                self.other_stars = True
            return
        if module == "np2tf" and self.scopes.of(node).is_module:
            for alias in node.names:
                if alias.evaluated_name == "tnp":
                    self.tnp_name = alias.evaluated_alias or "tnp"
        if is_numpy and module is not None:
            for alias in node.names:
                self._of_alias[alias] = f"{module}.{alias.evaluated_name}"
            self.statements.append(NumpyImport(node, tuple(node.names), module=module))

    def _from_other_file(self, node: cst.ImportFrom, reexports: Mapping[tuple[str, str], Reexport]) -> None:
        """Record the names of NumPy in `from .compat import np` at the top of the module."""
        module = "." * len(node.relative) + ((dotted_name(node.module) or "") if node.module else "")
        if not self.scopes.of(node).is_module:
            return
        if isinstance(node.names, cst.ImportStar):
            names = {
                reexport.name: reexport.qualified_name
                for reexport in reexports.values()
                if reexport.by_star and reexport.module == module
            }
            self._star_names.update(names)
            if names:
                self.statements.append(NumpyImport(node, (), star=True, module=module))
            return
        aliases = [alias for alias in node.names if (module, alias.evaluated_name) in reexports]
        for alias in aliases:
            reexport = self.of_other_files[alias] = reexports[module, alias.evaluated_name]
            self._of_alias[alias] = reexport.qualified_name
        if aliases:
            self.statements.append(NumpyImport(node, tuple(aliases), module=module))

    # -- resolving
    # -----------------------------------------------------------------------------------------------

    def _resolve(self, node: cst.Name | cst.Attribute) -> str | None:
        if isinstance(node, cst.Attribute):
            base = self.numpy_name(node.value)
            return None if base is None else f"{base}.{node.attr.value}"
        if not self._is_reference(node):
            return None
        name = node.value
        owner = self.scopes.of(node).owner_of(name)
        if owner is None:
            return self.star_name(name)
        return self._bound_name(node, owner)

    def _is_reference(self, node: cst.Name) -> bool:
        """Return whether a Name reads a variable: it is no attribute, keyword, parameter or import part."""
        up = self.parents[node]
        if type(up) is cst.Attribute:
            around: cst.CSTNode | None = up
            while type(around) is cst.Attribute:
                around = self.parents[around]
            return up.value is node and not isinstance(around, (cst.ImportAlias, cst.ImportFrom))
        if type(up) is cst.Arg:
            return up.value is node
        if type(up) is cst.FunctionDef or type(up) is cst.ClassDef or type(up) is cst.Param:
            return up.name is not node
        return type(up) not in _NAMES_ONLY

    def _bound_name(self, use: cst.Name, owner: Scope) -> str | None:
        key = (owner, use.value)
        referent = self._referents.get(key)
        if referent is None:
            referent = self._referents[key] = self._referent_of(owner.bindings[use.value])
        if referent is _NO_REFERENT:
            return None
        if referent.name is not None and not self._may_be_unbound(owner, use):
            if referent.assigned_from is not None:
                self.assigned_from[use] = referent.assigned_from
            if not referent.or_none or self._is_start_of_chain(use):
                return referent.name
            if asks_for_none(use, self.parents):
                self.tests_for_none[use] = use.value
                return None
        if use not in owner.bindings[use.value]:
            self.ambiguous[use] = use.value
        return None

    def _referent_of(self, bindings: list[cst.CSTNode]) -> _Referent:
        """Return what a name with these bindings refers to.

        `np.sin` raises an exception where `np` is None, so it is NumPy's function wherever it has a value.
        """
        values = [binding for binding in bindings if not binds_nothing(binding, self.parents)]
        names = {self._of_alias.get(binding) for binding in values}
        or_none = len(values) < len(bindings) or any(map(self._may_be_none, values))
        if or_none:
            modules = [self._assigned_module(binding) for binding in values]
            if modules and None not in modules:
                return _Referent("numpy", or_none, modules[0])
            if names != {"numpy"}:
                names.add(None)
        if names <= {None}:
            return _NO_REFERENT
        return _Referent(names.pop() if len(names) == 1 else None, or_none)

    def _may_be_none(self, binding: cst.CSTNode) -> bool:
        reexport = self.of_other_files.get(binding)
        return reexport is not None and reexport.or_none

    def _assigned_module(self, binding: cst.CSTNode) -> cst.Name | None:
        """Return the name `numpy` in the binding `np = numpy` of a module that imports `numpy`."""
        value = self.parents.assigned_value(binding)
        module = self.scopes.module
        if type(value) is not cst.Name or self.scopes.of(value) is not module:
            return None
        bindings = module.bindings.get(value.value, ())
        return value if {self._of_alias.get(binding) for binding in bindings} == {"numpy"} else None

    def _is_start_of_chain(self, use: cst.Name) -> bool:
        up = self.parents[use]
        return type(up) is cst.Attribute and up.value is use

    def _may_be_unbound(self, owner: Scope, use: cst.Name) -> bool:
        """Return whether a class body may read the name from around it because its own binding comes later.

        Such a use is ambiguous, and the translator does not resolve it.
        """
        return owner.is_class and owner.parent is not None and owner.parent.owner_of(use.value) is not None

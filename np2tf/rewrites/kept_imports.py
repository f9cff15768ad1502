"""Finds the names that a file imports from NumPy and that must stay imported."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import libcst as cst

from np2tf import rules
from np2tf.facts import Facts
from np2tf.facts.module.imports import NumpyImport
from np2tf.rewrites.planning.uses import (
    MODULES,
    comparison_target,
    quoted_annotations,
    quoted_types,
    stays,
    uses,
)
from np2tf.tree.names import dotted_name, words

_CACHE: WeakKeyDictionary[Facts, dict[tuple[str, ...], KeptImports]] = WeakKeyDictionary()
_READ_BY_NAME = words("eval exec globals locals vars")


class KeptImports:
    """Decides for every import of NumPy which part of it stays, and whether the code below it will need
    `tnp`.
    """

    def __init__(self, facts: Facts, passed_on: tuple[str, ...] = ()) -> None:
        self._facts = facts
        self._numpy_bindings: set[cst.CSTNode] = set()
        self._tnp_bindings: set[cst.CSTNode] = set()
        self._star_used = self._star_stays = False
        for use in uses(facts):
            name = facts.imports.assigned_from.get(use.name, use.name)
            owner = facts.scopes.of(name).owner_of(name.value)
            bindings = owner.bindings[name.value] if owner is not None else []
            is_comparison = comparison_target(facts, use) is not None and use.name not in facts.compiler_nodes
            is_kept = stays(facts, use)
            if is_comparison or is_kept:
                self._numpy_bindings.update(bindings)
                self._star_stays |= owner is None
            if is_comparison or not is_kept:
                self._tnp_bindings.update(bindings)
            self._star_used |= owner is None
        if quoted_annotations(facts, ""):
            self._tnp_bindings.update(facts.imports.aliases_of("numpy"))
        if quoted_types(facts):
            self._numpy_bindings.update(facts.imports.aliases_of("numpy"))
        self._passed_on = frozenset(passed_on) - ({"*"} if _has_fixed_exports(facts) else set())
        self._by_name = self._names_read_otherwise()
        # An earlier run has left an import for other files, and replaced the uses in this file.
        self._is_translation = facts.imports.tnp_name is not None
        is_left = self._is_translation and not self._star_used
        self._star = facts.imports.other_stars or self._star_stays or is_left or self._needs_star()

    @classmethod
    def of(cls, facts: Facts, passed_on: tuple[str, ...]) -> KeptImports:
        """Return the decisions for a module, which are made once for each `passed_on`."""
        cache = _CACHE.setdefault(facts, {})
        if passed_on not in cache:
            cache[passed_on] = cls(facts, passed_on)
        return cache[passed_on]

    def all_of(self, numpy_import: NumpyImport) -> bool:
        """Return whether a whole import statement stays."""
        if numpy_import.star:
            return self._star or numpy_import.module not in MODULES
        return all(self.alias(alias) for alias in numpy_import.aliases)

    def needs_tnp(self, numpy_import: NumpyImport) -> bool:
        """Return whether a name that this statement imports is translated, or used by way of a star
        import.
        """
        if numpy_import.star:
            return self._star_used
        return any(alias in self._tnp_bindings for alias in numpy_import.aliases)

    def alias(self, alias: cst.ImportAlias) -> bool:
        """Return whether one imported name stays. A name from another file stays: its import runs that
        file.
        """
        if alias in self._facts.imports.of_other_files:
            return True
        is_unused = self.is_unused(alias)
        unused_module = is_unused and isinstance(self._facts.parents[alias], cst.Import)
        is_left = is_unused and self._is_translation
        name = _bound_name(alias)
        by_name = name in self._by_name or (self._is_passed_on(name) and not is_unused)
        is_kept = alias in self._numpy_bindings or by_name or unused_module or is_left
        return is_kept or self._untranslatable(alias)

    def is_unused(self, alias: cst.ImportAlias) -> bool:
        """Return whether the file does not use the name, so that only other files can use it, by importing it
        from here.
        """
        return alias not in self._tnp_bindings and alias not in self._numpy_bindings

    def _names_read_otherwise(self) -> set[str]:
        """Return the names that are ambiguous, exported by `__all__`, or that code in strings may mention."""
        facts = self._facts
        module = facts.scopes.module
        names = {
            name
            for scope in module.within()
            for name, bindings in scope.bindings.items()
            if _are_mixed(facts, bindings)
        }
        for binding in module.bindings.get("__all__", ()):
            up = facts.parents[binding]
            assign = facts.parents[up] if type(up) is cst.AssignTarget else up
            value = getattr(assign, "value", None)
            if isinstance(value, (cst.List, cst.Tuple)):
                strings = [e.value for e in value.elements if type(e.value) is cst.SimpleString]
                names |= {str(string.evaluated_value) for string in strings}
        if _READ_BY_NAME & module.free:
            names |= {
                _bound_name(alias) for statement in facts.imports.statements for alias in statement.aliases
            }
        return names

    def _is_passed_on(self, name: str) -> bool:
        """Return whether other files read a name of this file."""
        return name in self._passed_on or ("*" in self._passed_on and not name.startswith("_"))

    def _needs_star(self) -> bool:
        """Return whether a name that nothing in the file binds may come from `from numpy import *`."""
        facts = self._facts
        if not any(statement.star for statement in facts.imports.statements):
            return False
        bindings = facts.scopes.module.bindings
        other_names = {name for name in (*self._by_name, *self._passed_on) if name not in bindings}
        if "*" in other_names or any(facts.imports.star_name(name) is not None for name in other_names):
            return True  # other files may import them from this file
        unknown = facts.scopes.module.free - facts.imports.builtins
        return any(facts.imports.star_name(name) is None for name in unknown)

    def _untranslatable(self, alias: cst.ImportAlias) -> bool:
        """Return whether an alias imports a part of NumPy that np2tf does not have."""
        full = self._facts.imports.qualified_binding(alias) or ""
        if alias.asname is None and full == "numpy" and dotted_name(alias.name) not in MODULES:
            return True  # `import numpy.testing`
        rule = rules.find(full)
        if full in MODULES:
            return False
        return rule is None or rule.kind == "no" or (rule.removed and self.is_unused(alias))


def _has_fixed_exports(facts: Facts) -> bool:
    """Return whether one list of strings in `__all__` says what `import *` reads: the names in it stay in any
    case.
    """
    mentions = [name for name in facts.nodes(cst.Name) if name.value == "__all__"]
    up = facts.parents[mentions[0]] if len(mentions) == 1 else None
    assign = facts.parents[up] if isinstance(up, cst.AssignTarget) else None
    if not isinstance(assign, cst.Assign) or facts.parents[facts.parents[assign]] is not facts.module:  # type: ignore[index]
        return False
    value = assign.value
    return isinstance(value, (cst.List, cst.Tuple)) and all(
        isinstance(element.value, cst.SimpleString) for element in value.elements
    )


def _are_mixed(facts: Facts, bindings: list[cst.CSTNode]) -> bool:
    """Return whether the bindings of a name are not all imports of the same NumPy name."""
    return len({facts.imports.qualified_binding(binding) for binding in bindings}) > 1


def _bound_name(alias: cst.ImportAlias) -> str:
    return (alias.evaluated_alias or alias.evaluated_name).split(".")[0]

"""Turns `import numpy as np` into `from np2tf import tnp`, and keeps what must stay imported."""

from __future__ import annotations

import libcst as cst

from np2tf.core import rules
from np2tf.core.diagnostics import Report
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.numpy_imports import BUILTINS, NumpyImport
from np2tf.translator.facts.scopes import FreshNames
from np2tf.translator.rewrites.import_order import keep_sorted
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.rewrites.uses import (
    MODULES,
    comparison_target,
    has_moved,
    quoted_annotations,
    quoted_types,
    stays,
    uses,
)
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.blanks import is_blank_line
from np2tf.translator.tree.nodes import bound_name, dotted_name, words
from np2tf.translator.tree.templates import Statement, statement

# -- kept imports --------------------------------------------------------------------------------------------
# Finds the names that a file imports from NumPy and that must stay imported.

_READ_BY_NAME = words("eval exec globals locals vars")


class KeptImports:
    """Decides which part of each NumPy import stays, and whether the code below it will need `tnp`."""

    def __init__(self, facts: Facts, passed_on: tuple[str, ...] = ()) -> None:
        self._facts = facts
        self._numpy_bindings: set[cst.CSTNode] = set()
        self._tnp_bindings: set[cst.CSTNode] = set()
        self._star_used = self._star_stays = False
        for use in uses(facts):
            name = facts.imports.assigned_from.get(use.name, use.name)
            owner = facts.scopes.owner(name)
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

    def all_of(self, numpy_import: NumpyImport) -> bool:
        """Return whether a whole import statement stays."""
        if numpy_import.star:
            return self._star or numpy_import.module not in MODULES
        return all(self.alias(alias) for alias in numpy_import.aliases)

    def needs_tnp(self, numpy_import: NumpyImport) -> bool:
        """Return whether a name imported here is translated, or used by way of a star import."""
        if numpy_import.star:
            return self._star_used
        return any(alias in self._tnp_bindings for alias in numpy_import.aliases)

    def alias(self, alias: cst.ImportAlias) -> bool:
        """Return whether a name stays; one from another file does, since its import runs that file."""
        if alias in self._facts.imports.of_other_files:
            return True
        is_unused = self.is_unused(alias)
        unused_module = is_unused and isinstance(self._facts.parents[alias], cst.Import)
        is_left = is_unused and self._is_translation
        name = bound_name(alias)
        by_name = name in self._by_name or (self._is_passed_on(name) and not is_unused)
        is_kept = alias in self._numpy_bindings or by_name or unused_module or is_left
        return is_kept or self._untranslatable(alias)

    def is_unused(self, alias: cst.ImportAlias) -> bool:
        """Return whether only other files can use the name, by importing it from this one."""
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
                bound_name(alias) for statement in facts.imports.statements for alias in statement.aliases
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
        unknown = facts.scopes.module.free - BUILTINS
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
    """Return whether one list of strings in `__all__` fixes the exports: the names in it stay."""
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


# -- imports -------------------------------------------------------------------------------------------------
# Turns `import numpy as np` into `from np2tf import tnp`, for every form of import.


def name_for_tnp(facts: Facts) -> str:
    """Return the output's name of `np2tf.tnp`: `tnp`, unless the file uses that for something else."""
    return facts.imports.tnp_name or FreshNames(facts.scopes).name(facts.module, "tnp")


def has_translations(facts: Facts, passed_on: tuple[str, ...] = ()) -> bool:
    """Return whether the translation would remove an import of NumPy or change a use of it."""
    kept_imports = facts.get(KeptImports, passed_on)
    are_changed = any(
        not kept_imports.all_of(numpy_import) or kept_imports.needs_tnp(numpy_import)
        for numpy_import in facts.imports.statements
    )
    return are_changed or any(has_moved(facts, use) for use in uses(facts))


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Replace the imports of NumPy, and add the imports that the output needs."""
    kept_imports = facts.get(KeptImports, options.passed_on)
    imports = []
    for numpy_import in facts.imports.statements:
        if not kept_imports.all_of(numpy_import) or kept_imports.needs_tnp(numpy_import):
            imports.append(numpy_import)
            # `global np; import numpy as np` in a function serves the whole module.
            plan.require(tnp=_binds_outside(facts, numpy_import))
    top = next((numpy_import for numpy_import in imports if _at_top(facts, numpy_import)), None)
    has_tnp = facts.imports.tnp_name is not None
    runtime = plan.needs_runtime and "np2tf" not in facts.scopes.module.bindings
    insert_tnp = plan.needs_tnp and not has_tnp and top is None
    blocks: set[cst.CSTNode | None] = set()
    for numpy_import in imports:
        block = facts.parents[facts.parents[numpy_import.node] or facts.module]
        in_function = facts.scopes.of(numpy_import.node).is_function
        is_available = has_tnp or block in blocks or (in_function and (top is not None or insert_tnp))
        blocks.add(block)
        _replace(
            facts,
            plan,
            numpy_import,
            kept_imports,
            with_tnp=not is_available,
            runtime=runtime and numpy_import is top and not has_tnp,
        )
    if insert_tnp or (runtime and (top is None or has_tnp)):
        _insert(facts, plan, insert_tnp, runtime)
    if imports or runtime:
        keep_sorted(facts, plan)


def _binds_outside(facts: Facts, numpy_import: NumpyImport) -> bool:
    """Return whether an import in a function binds names that the function declares global or nonlocal."""
    scope = facts.scopes.of(numpy_import.node)
    names = {(a.evaluated_alias or a.evaluated_name).split(".")[0] for a in numpy_import.aliases}
    return bool(names & (scope.globals | scope.nonlocals))


def _at_top(facts: Facts, numpy_import: NumpyImport) -> bool:
    """Return whether an import runs whenever the module does: at its top, or in the body of a `try` there."""
    line = facts.parents[numpy_import.node]
    up = facts.parents[line] if line is not None else None
    if type(up) is cst.IndentedBlock:
        owner = facts.parents[up]
        up = facts.parents[owner] if type(owner) is cst.Try and owner.body is up else None
    return type(up) is cst.Module


def _new_lines(plan: Plan, tnp: bool, runtime: bool) -> list[Statement]:
    """Return the imports of `np2tf` and of `tnp`, in isort's order."""
    alias = "" if plan.tnp_name == "tnp" else f" as {plan.tnp_name}"
    lines = [statement("import np2tf")] if runtime else []
    return [*lines, statement(f"from np2tf import tnp{alias}")] if tnp else lines


def _replace(
    facts: Facts,
    plan: Plan,
    numpy_import: NumpyImport,
    kept_imports: KeptImports,
    *,
    with_tnp: bool,
    runtime: bool,
) -> None:
    """Remove NumPy's names from one import, and put the import of `tnp` in its place or below it."""
    remainder, passed_on = _remaining_import(numpy_import, kept_imports)
    new = _new_lines(plan, with_tnp, with_tnp and runtime)
    if passed_on:
        new.append(_passed_on(passed_on, numpy_import))
    lines = [*([] if remainder is None else [cst.SimpleStatementLine([remainder])]), *new]
    if not lines:
        _remove(facts, plan, numpy_import.node)
        return
    smalls = [line.body[0] for line in lines if type(line) is cst.SimpleStatementLine]
    around = facts.parents[numpy_import.node]
    if len(smalls) == 1 or (type(around) is cst.SimpleStatementLine and len(around.body) == 1):
        plan.add(
            numpy_import.node, lambda updated_node: smalls[0].with_changes(semicolon=updated_node.semicolon)
        )
        if around is not None and len(smalls) > 1:
            plan.add(around, lambda updated_node: cst.FlattenSentinel([updated_node, *lines[1:]]))
        return

    def in_line(updated_node: cst.Import | cst.ImportFrom) -> cst.FlattenSentinel[cst.BaseSmallStatement]:
        """Return all statements in one line, because later ones on it may already use `tnp`."""
        return cst.FlattenSentinel([*smalls[:-1], smalls[-1].with_changes(semicolon=updated_node.semicolon)])

    plan.add(numpy_import.node, in_line)


def _remaining_import(
    numpy_import: NumpyImport, kept_imports: KeptImports
) -> tuple[cst.Import | cst.ImportFrom | None, list[cst.ImportAlias]]:
    """Return the part of an import that stays, and its unused names, which other files may import."""
    node = numpy_import.node
    if isinstance(node.names, cst.ImportStar):
        return (node if kept_imports.all_of(numpy_import) else None), []
    numpy_aliases = set(numpy_import.aliases)
    aliases = [alias for alias in node.names if alias not in numpy_aliases or kept_imports.alias(alias)]
    removals = [alias for alias in node.names if alias in numpy_aliases and not kept_imports.alias(alias)]
    passed_on = [
        alias for alias in removals if isinstance(node, cst.ImportFrom) and kept_imports.is_unused(alias)
    ]
    if not aliases:
        return None, passed_on
    if len(aliases) == len(node.names):
        return node, passed_on
    last = aliases[-1].with_changes(comma=node.names[-1].comma)
    return node.with_changes(names=[*aliases[:-1], last]), passed_on


def _passed_on(aliases: list[cst.ImportAlias], numpy_import: NumpyImport) -> Statement:
    """Return `from np2tf.tnp import pi` and the like, for files that import these names from this file."""
    module = numpy_import.module.replace("numpy", "np2tf.tnp", 1)
    names = ", ".join(
        alias.evaluated_name + (f" as {alias.evaluated_alias}" if alias.asname is not None else "")
        for alias in aliases
    )
    return statement(f"from {module} import {names}")


def _remove(facts: Facts, plan: Plan, node: cst.CSTNode) -> None:
    """Remove an import. The comments and form feeds above it stay, above the line that follows."""
    plan.add(node, lambda updated_node: cst.RemoveFromParent())
    line = facts.parents[node]
    if type(line) is not cst.SimpleStatementLine or len(line.body) > 1:
        return
    comments = [above for above in line.leading_lines if not is_blank_line(above)]
    if not comments:
        return
    block = facts.parents[line]
    body = block.body if isinstance(block, (cst.Module, cst.IndentedBlock)) else ()
    successors = list(body)[list(body).index(line) + 1 :] if body else []
    if successors:
        plan.add(
            successors[0],
            lambda updated_node: updated_node.with_changes(
                leading_lines=[*comments, *updated_node.leading_lines]
            ),
        )
    elif block is not None:
        plan.add(
            block, lambda updated_node: updated_node.with_changes(footer=[*comments, *updated_node.footer])
        )


def _insert(facts: Facts, plan: Plan, tnp: bool, runtime: bool) -> None:
    """Insert imports at the top: behind the docstring, `from __future__` and the first run of imports."""
    lines = _new_lines(plan, tnp, runtime)
    after = None
    for position, line in enumerate(facts.module.body):
        small = line.body[0] if type(line) is cst.SimpleStatementLine else None
        is_docstring = position == 0 and type(small) is cst.Expr and type(small.value) is cst.SimpleString
        if not is_docstring and type(small) not in (cst.Import, cst.ImportFrom):
            break
        after = line
        if is_docstring:
            lines[0] = lines[0].with_changes(leading_lines=_blank_lines(1))
        elif position:
            lines[0] = lines[0].with_changes(leading_lines=())
    if after is not None:
        plan.add(after, lambda updated_node: cst.FlattenSentinel([updated_node, *lines]))
    elif facts.module.body:
        first = facts.module.body[0]
        count = 2 if isinstance(first, (cst.FunctionDef, cst.ClassDef)) else 1
        plan.add(first, lambda updated_node: cst.FlattenSentinel([*lines, _below(updated_node, count)]))


def _blank_lines(count: int) -> list[cst.EmptyLine]:
    return [cst.EmptyLine(indent=False)] * count


def _below(node: Statement, count: int) -> Statement:
    """Return a statement with this many blank lines above it, and above its comments."""
    return node.with_changes(leading_lines=[*_blank_lines(count), *node.leading_lines])

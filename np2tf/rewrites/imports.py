"""`import numpy as np` becomes `from np2tf import tnp`, in every form an import can take."""

from __future__ import annotations

import libcst as cst

from np2tf import rules
from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.facts.imports import NumpyImport
from np2tf.options import Options
from np2tf.rewrites.names import stays
from np2tf.rewrites.plan import Plan
from np2tf.rewrites.uses import MODULES, uses
from np2tf.tree.names import dotted
from np2tf.tree.templates import Statement, statement

_READ_BY_NAME = frozenset({"eval", "exec", "globals", "locals", "vars"})


def name_for_tnp(facts: Facts) -> str:
    """What the output calls `np2tf.tnp`: `tnp`, unless the file uses that name for something else."""
    if facts.imports.has_tnp or not facts.scopes.name_taken("tnp"):
        return "tnp"
    return facts.fresh_name(facts.module, "tnp")


def anything_to_translate(facts: Facts) -> bool:
    """Whether an import of NumPy would go or a use of it change."""
    if any(not stays(facts, use) for use in uses(facts)):
        return True
    kept = _Kept(facts)
    return any(not kept.all_of(found) for found in facts.imports.statements)


class _Kept:
    """Which names that the file imports from NumPy must stay."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._aliases: set[cst.CSTNode] = set()
        self._used: set[cst.CSTNode] = set()
        self._by_name = self._names_read_otherwise()
        self._star = facts.imports.other_stars or self._needs_star()
        for use in uses(facts):
            owner = facts.scopes.of(use.name).owner_of(use.name.value)
            bindings = owner.bindings[use.name.value] if owner is not None else []
            self._used.update(bindings)
            if stays(facts, use):
                self._aliases.update(bindings)

    def _names_read_otherwise(self) -> set[str]:
        """Names that are ambiguous, exported by `__all__`, or that strings may mention."""
        facts = self._facts
        names = set(facts.imports.ambiguous.values())
        for scope in facts.scopes.module.within():
            names |= {n for n, bs in scope.bindings.items() if _mixed(facts, bs)}
        for binding in facts.scopes.module.bindings.get("__all__", ()):
            up = facts.parents[binding]
            assign = facts.parents[up] if isinstance(up, cst.AssignTarget) else up
            value = getattr(assign, "value", None)
            if isinstance(value, (cst.List, cst.Tuple)):
                strings = [e.value for e in value.elements if isinstance(e.value, cst.SimpleString)]
                names |= {str(string.evaluated_value) for string in strings}
        if _READ_BY_NAME & facts.scopes.module.free_names:
            names |= facts.imports.names_of("numpy")
        return names

    def _needs_star(self) -> bool:
        """A name that nothing in the file binds may come from `from numpy import *`."""
        facts = self._facts
        if not any(found.star for found in facts.imports.statements):
            return False
        unknown = facts.scopes.module.free_names - facts.imports.builtins
        return any(facts.imports.star_name(name) is None for name in unknown)

    def alias(self, alias: cst.ImportAlias) -> bool:
        """Whether one imported name must stay."""
        name = _bound_name(alias)
        return alias in self._aliases or name in self._by_name or self._untranslatable(alias)

    def _untranslatable(self, alias: cst.ImportAlias) -> bool:
        """An import of a part of NumPy that np2tf does not have."""
        full = self._facts.imports.alias_name(alias) or ""
        spelled = dotted(alias.name) or ""
        if alias.asname is None and full == "numpy" and spelled not in MODULES:
            return True  # `import numpy.testing`
        rule = rules.find(full)
        return full not in MODULES and (rule is None or rule.kind == "no" or self._old_unused(rule, alias))

    def _old_unused(self, rule: rules.Rule, alias: cst.ImportAlias) -> bool:
        return rule.chapter == "removed" and alias not in self._used

    def unused(self, alias: cst.ImportAlias) -> bool:
        """Whether nothing in the file uses the name: someone may import it from here."""
        return alias not in self._used

    def all_of(self, found: NumpyImport) -> bool:
        """Whether a whole import statement must stay."""
        if found.star:
            return self._star or found.module not in MODULES
        return all(self.alias(alias) for alias in found.aliases)


def _mixed(facts: Facts, bindings: list[cst.CSTNode]) -> bool:
    """Bindings of one name of which some are NumPy's, but not all the same."""
    found = {facts.imports.qualified_binding(binding) for binding in bindings}
    return len(found) > 1


def _bound_name(alias: cst.ImportAlias) -> str:
    return (alias.evaluated_alias or alias.evaluated_name).split(".")[0]


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Replace the imports of NumPy, and add those the output needs."""
    for found in facts.imports.statements:
        if found.star and facts.imports.other_stars:
            report.add("NP2TF005", *facts.position(found.node), module=found.module)
    kept = _Kept(facts)
    gone = [found for found in facts.imports.statements if not kept.all_of(found)]
    top = next((found for found in gone if _at_top(facts, found)), None)
    provided = facts.imports.has_tnp or top is not None
    runtime = plan.needs_runtime and "np2tf" not in facts.scopes.module.bindings
    if runtime or (plan.needs_tnp and not provided):
        provided = True
    seen: dict[cst.CSTNode | None, NumpyImport] = {}
    for found in gone:
        in_function = facts.scopes.of(found.node).is_function
        block = facts.parents[facts.parents[found.node] or facts.module]
        again = facts.imports.has_tnp if _at_top(facts, found) else (in_function and provided)
        needs_line = found.node in _nodes(seen) or not (again or block in seen)
        seen.setdefault(block, found)
        _replace(facts, plan, found, kept, with_tnp=needs_line, runtime=runtime and found is top)
    if top is None or facts.imports.has_tnp:
        wanted = plan.needs_tnp and not facts.imports.has_tnp
        if wanted or runtime:
            _insert(facts, plan, wanted, runtime)


def _nodes(seen: dict[cst.CSTNode | None, NumpyImport]) -> set[cst.CSTNode]:
    return {found.node for found in seen.values()}


def _at_top(facts: Facts, found: NumpyImport) -> bool:
    """Whether an import runs whenever the module does: at its top level, or in the body of a `try` there."""
    line = facts.parents[found.node]
    up = facts.parents[line] if line is not None else None
    if isinstance(up, cst.IndentedBlock):
        owner = facts.parents[up]
        up = facts.parents[owner] if isinstance(owner, cst.Try) and owner.body is up else None
    return isinstance(up, cst.Module)


def _tnp_line(plan: Plan, runtime: bool) -> list[Statement]:
    alias = "" if plan.tnp_name == "tnp" else f" as {plan.tnp_name}"
    lines = [statement(f"from np2tf import tnp{alias}")]
    return [*lines, statement("import np2tf")] if runtime else lines


def _replace(
    facts: Facts, plan: Plan, found: NumpyImport, kept: _Kept, *, with_tnp: bool, runtime: bool
) -> None:
    """Take NumPy's names out of one import, and put `tnp` in or below its place."""
    rest, passed_on = _rest(found, kept)
    new: list[Statement] = _tnp_line(plan, runtime) if with_tnp else []
    if passed_on:
        new.append(_passed_on(passed_on, found))
    line = facts.parents[found.node]
    first: list[Statement] = []
    if rest is not None:
        first = [cst.SimpleStatementLine([rest])]
    lines = [*first, *new]
    if lines:
        head = lines[0]
        assert isinstance(head, cst.SimpleStatementLine)
        plan.add(found.node, lambda updated: head.body[0].with_changes(semicolon=updated.semicolon))
        if line is not None and len(lines) > 1:
            plan.add(line, lambda updated: cst.FlattenSentinel(_below(updated, lines[1:])))
    else:
        _remove(facts, plan, found.node)


def _below(line: cst.CSTNode, more: list[Statement]) -> list[cst.CSTNode]:
    if isinstance(line, cst.SimpleStatementLine):
        return [line, *more]
    # `if x: import numpy as np`: the suite on the same line takes small statements only.
    assert isinstance(line, cst.SimpleStatementSuite)
    added = [small for statement in more if isinstance(statement, cst.SimpleStatementLine) for small in statement.body]
    return [line.with_changes(body=[*line.body, *added])]


def _rest(found: NumpyImport, kept: _Kept) -> tuple[cst.Import | cst.ImportFrom | None, list[cst.ImportAlias]]:
    """What stays of an import, and the names that nothing here uses but others may import from here."""
    node = found.node
    if isinstance(node.names, cst.ImportStar):
        return None, []
    ours = set(found.aliases)
    staying = [alias for alias in node.names if alias not in ours or kept.alias(alias)]
    going = [alias for alias in node.names if alias in ours and not kept.alias(alias)]
    passed_on = [alias for alias in going if isinstance(node, cst.ImportFrom) and kept.unused(alias)]
    if not staying:
        return None, passed_on
    if len(staying) == len(node.names):
        return node, passed_on
    last = staying[-1].with_changes(comma=node.names[-1].comma)
    return node.with_changes(names=[*staying[:-1], last]), passed_on


def _passed_on(aliases: list[cst.ImportAlias], found: NumpyImport) -> Statement:
    """`from np2tf.tnp import pi`, for those who import it from this file."""
    module = found.module.replace("numpy", "np2tf.tnp", 1)
    names = ", ".join(
        alias.evaluated_name + (f" as {alias.evaluated_alias}" if alias.asname is not None else "") for alias in aliases
    )
    return statement(f"from {module} import {names}")


def _remove(facts: Facts, plan: Plan, node: cst.CSTNode) -> None:
    """Remove an import; comments above it stay, above the line that follows."""
    plan.add(node, lambda updated: cst.RemoveFromParent())
    line = facts.parents[node]
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return
    comments = [blank for blank in line.leading_lines if blank.comment is not None]
    if not comments:
        return
    block = facts.parents[line]
    body = block.body if isinstance(block, (cst.Module, cst.IndentedBlock)) else ()
    following = [other for other in body[list(body).index(line) + 1 :]] if body else []
    if following:
        plan.add(following[0], lambda updated: updated.with_changes(leading_lines=[*comments, *updated.leading_lines]))
    elif block is not None:
        plan.add(block, lambda updated: updated.with_changes(footer=[*comments, *updated.footer]))


def _insert(facts: Facts, plan: Plan, tnp: bool, runtime: bool) -> None:
    """Put imports at the top: behind the docstring, `from __future__` and the first run of imports."""
    lines = _tnp_line(plan, runtime)[0 if tnp else 1 :]
    after = None
    for position, line in enumerate(facts.module.body):
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        docstring = position == 0 and isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)
        if not docstring and not isinstance(small, (cst.Import, cst.ImportFrom)):
            break
        after = line
    if after is not None:
        plan.add(after, lambda updated: cst.FlattenSentinel([updated, *lines]))
    elif facts.module.body:
        plan.add(facts.module.body[0], lambda updated: cst.FlattenSentinel([*lines, updated]))

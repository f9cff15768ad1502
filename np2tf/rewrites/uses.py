"""Every use of a NumPy name in a module, and what it becomes. Read by `names` (which edits) and `imports`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from np2tf import rules
from np2tf.facts import Facts
from np2tf.rules import Rule
from np2tf.tree.names import words
from np2tf.tree.walk import walk

MODULES = frozenset({"numpy", "numpy.linalg", "numpy.fft", "numpy.random"})
"""The modules that np2tf.tnp has."""

# Modules of NumPy that are not about computing, or that no tensor can serve: code that uses them stays on
# NumPy,
# and is handed arrays through their protocols.
ON_NUMPY = words(
    """
    testing ma char rec strings lib ctypeslib f2py typing exceptions dtypes polynomial core _core version
    compat
    distutils matlib emath __version__ __name__ __file__ __path__ __doc__ __config__ __dict__ show_config
    show_runtime
    get_include test
    """
)


@dataclass(frozen=True, eq=False)
class Use:
    """One name at one place, and the longest dotted chain on it that is NumPy's."""

    name: cst.Name
    """Where the chain starts: the name that the source bound by an import."""
    stands_for: str
    """What that name is, such as `numpy` or `numpy.linalg.norm`."""
    node: cst.Name | cst.Attribute
    """The chain up to the public name (`np.linalg.norm`), or the whole of a chain that is unknown."""
    qualified: str
    rule: Rule | None

    @property
    def is_module(self) -> bool:
        """The use is of a module itself."""
        return self.qualified in MODULES

    @property
    def on_numpy(self) -> bool:
        """The use is of a part of NumPy that np2tf leaves alone."""
        return self.qualified.split(".")[1:2] != [] and self.qualified.split(".")[1] in ON_NUMPY

    @property
    def known(self) -> bool:
        """np2tf has a translation."""
        return self.is_module or (self.rule is not None and self.rule.kind != "no")


def uses(facts: Facts) -> Iterator[Use]:
    """The uses of NumPy names in a module, in source order."""
    if not facts.imports.any:
        return
    for name in facts.nodes(cst.Name):
        stands_for = facts.imports.qualified(name)
        if stands_for is not None:
            yield _use(facts, name, stands_for)


def _use(facts: Facts, name: cst.Name, stands_for: str) -> Use:
    node: cst.Name | cst.Attribute = name
    path = stands_for
    while True:
        rule = rules.find(path)
        if rule is not None and rule.name != "numpy.ndarray" and rule.chapter != "ufuncs":
            return Use(name, stands_for, node, path, rule)
        up = facts.parents[node]
        longer = isinstance(up, cst.Attribute) and up.value is node
        if rule is not None:
            # `np.add.at` and `np.ndarray.sort` have rules of their own; `np.add.reduce` is an attribute of
            # np.add.
            if isinstance(up, cst.Attribute) and longer and rules.find(f"{path}.{up.attr.value}") is not None:
                node, path = up, f"{path}.{up.attr.value}"
                continue
            return Use(name, stands_for, node, path, rule)
        if path not in MODULES or not longer:
            return Use(name, stands_for, node, path, None)
        assert isinstance(up, cst.Attribute)
        node, path = up, f"{path}.{up.attr.value}"


def is_target(facts: Facts, node: cst.CSTNode) -> bool:
    """Whether an expression is assigned to or deleted."""
    up = facts.parents[node]
    return isinstance(up, (cst.AssignTarget, cst.Del)) or (
        isinstance(up, (cst.AugAssign, cst.AnnAssign)) and up.target is node
    )


def stays(facts: Facts, use: Use) -> bool:
    """Whether a use is left on NumPy."""
    if use.name in facts.foreign:
        return True
    if use.on_numpy or not use.known or is_target(facts, use.node):
        return True
    rule = use.rule
    if use.is_module and _asked_for_unknown(facts, use):
        return True
    if rule is None or not (rule.flattens or rule.arguments):
        return False
    # The old function is not the new one by itself, only a call of it can be rewritten.
    call = facts.parents[use.node]
    return not (isinstance(call, cst.Call) and call.func is use.node and call.args and not call.args[0].star)


def _asked_for_unknown(facts: Facts, use: Use) -> bool:
    """`hasattr(np, "in1d")`: a question about NumPy itself, where the name has no plain translation."""
    arg = facts.parents[use.node]
    call = facts.parents[arg] if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or len(call.args) < 2:
        return False
    name = call.args[1].value
    if call.func.value not in ("hasattr", "getattr") or not isinstance(name, cst.SimpleString):
        return False
    rule = rules.find(f"{use.qualified}.{name.raw_value}")
    return rule is None or rule.kind == "no" or rule.chapter == "removed"


def quoted_annotations(facts: Facts, new: str) -> list[tuple[cst.SimpleString, str]]:
    """Annotations in quotes that name the NumPy module, and their text with `new` for its name."""
    aliases = facts.imports.names_of("numpy")
    if not aliases:
        return []
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(aliases)))})(?=\.\w)")
    return [
        (string, pattern.sub(new, string.value))
        for annotation in facts.nodes(cst.Annotation)
        for string in walk(annotation)
        if isinstance(string, cst.SimpleString) and pattern.search(string.value)
    ]

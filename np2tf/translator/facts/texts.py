"""Strings made from values: what makes them, and whether they are only printed or returned."""

from __future__ import annotations

import libcst as cst

from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import walk

_STRINGS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_TEXT_NODES = frozenset({cst.FormattedString, cst.ConcatenatedString, cst.BinaryOperation, cst.Call})
_STREAMS = ("sys.stdout", "sys.stderr", "None")
_OF_PRINT = ("sep", "end", "file", "flush")


class Texts:
    """Analyses the strings that one function makes."""

    def __init__(self, function: cst.FunctionDef, facts: Facts) -> None:
        self._function = function
        self._facts = facts
        self._visits: set[str] = set()

    def is_text(self, node: cst.CSTNode) -> bool:
        """Return whether an expression visibly makes text of values."""
        if type(node) not in _TEXT_NODES:
            return False
        if type(node) is cst.FormattedString:
            return type(self._facts.parents[node]) is not cst.ConcatenatedString
        if type(node) is cst.ConcatenatedString:
            inner = type(self._facts.parents[node]) is cst.ConcatenatedString
            return not inner and any(type(part) is cst.FormattedString for part in walk(node))
        if type(node) is cst.BinaryOperation:
            return type(node.operator) is cst.Modulo and isinstance(node.left, _STRINGS[:2])
        return type(node) is cst.Call and (self._is_format(node) or is_call(self._facts, node, _MAKERS))

    def is_shown(self, node: cst.CSTNode) -> bool:
        """Return whether a string is used only in prints, logs, warnings, such strings, and the result."""
        up = self._facts.parents[node]
        if isinstance(up, cst.Arg):
            call = self._facts.parents[up]
            if not isinstance(call, cst.Call):
                return False
            if is_call(self._facts, call, ("print",)) or _is_told(call):
                return up.keyword is None
            return (self._is_format(call) or is_call(self._facts, call, _MAKERS)) and self.is_shown(call)
        if isinstance(up, cst.AssignTarget):
            return False
        if isinstance(up, (cst.Assign, cst.AugAssign)):
            targets = (
                [assign_target.target for assign_target in up.targets]
                if isinstance(up, cst.Assign)
                else [up.target]
            )
            return all(
                isinstance(target, cst.Name) and self._name_is_shown(target.value) for target in targets
            )
        if isinstance(up, (cst.Return, cst.Expr)):
            return True
        if isinstance(up, cst.BinaryOperation):
            added = isinstance(up.operator, cst.Add) or (self.is_text(up) and node is up.right)
            return added and self.is_shown(up)
        if isinstance(up, (cst.Element, cst.FormattedStringExpression, cst.ConcatenatedString)):
            return self.is_shown(up)
        if isinstance(up, (cst.Tuple, cst.List, cst.Dict, cst.FormattedString)):
            return self.is_shown(up)
        return isinstance(up, cst.DictElement) and node is up.value and self.is_shown(up)

    def _is_format(self, call: cst.Call) -> bool:
        """Return whether a call is `"…".format(…)`."""
        func = call.func
        return (
            type(func) is cst.Attribute
            and func.attr.value == "format"
            and isinstance(func.value, _STRINGS[:2])
        )

    def _name_is_shown(self, name: str) -> bool:
        """Return whether every use of a name in the function is one where a string may go."""
        if name in self._visits:
            return True
        self._visits.add(name)
        uses = [node for node in walk(self._function) if type(node) is cst.Name and node.value == name]
        return all(self._is_other(node) or self.is_shown(node) for node in uses)

    def _is_other(self, node: cst.Name) -> bool:
        """Return whether an occurrence of a name does not read it."""
        up = self._facts.parents[node]
        if type(up) is cst.Attribute:
            return node is up.attr
        if type(up) is cst.Arg:
            return node is up.keyword
        return type(up) is cst.AssignTarget or (type(up) is cst.AugAssign and node is up.target)


def _is_told(call: cst.Call) -> bool:
    """Return whether a call is `warnings.warn(…)` or looks like a logger's call."""
    return type(call.func) is cst.Attribute and call.func.attr.value in _LOG_METHODS


_MAKERS = ("str", "repr")
_LOG_METHODS = ("warn", "debug", "info", "warning", "error", "exception", "critical", "log")


def is_call(facts: Facts, node: cst.CSTNode, names: tuple[str, ...]) -> bool:
    """Return whether a node is a call of a builtin with one of the given names."""
    if type(node) is not cst.Call or type(node.func) is not cst.Name or node.func.value not in names:
        return False
    return facts.scopes.owner(node.func) is None


def print_problem(facts: Facts, call: cst.Call) -> str | None:
    """Return why a call of the builtin `print` cannot be staged, as the rest of "it …"; None if it can."""
    for arg in call.args:
        name = arg.keyword.value if arg.keyword is not None else ""
        if arg.star == "**" or (name and name not in _OF_PRINT):
            return "prints with settings that are unknown"
        if name == "file" and facts.code(arg.value) not in _STREAMS:
            return "prints to a file"
    return None

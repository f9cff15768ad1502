"""The state of a module while its values are followed, and the decision about each place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.dataflow.reads_writes import Names
from np2tf.rewrites.planning.plan import EditedNode
from np2tf.rewrites.tensorflow_target.model.classes import AttributeKey, attributes_in
from np2tf.rewrites.tensorflow_target.model.program import Program
from np2tf.rewrites.tensorflow_target.model.table import Table, table
from np2tf.rewrites.tensorflow_target.model.values import (
    NO_VALUE,
    Value,
    in_outer_memory,
    join,
    limit_depth,
    union,
    unknown,
)

Edit = Callable[[Any], EditedNode]


@dataclass
class Summary:
    """The facts about one function."""

    node: cst.FunctionDef | cst.Lambda
    world: World
    """The module that defines the function."""
    parameters: dict[str, Value] = field(default_factory=dict)
    """The possible values of the parameters, joined over the calls so far."""
    result: Value | None = None
    writes: set[str] = field(default_factory=set)
    """The parameters that are arrays and that the function writes to."""
    attribute_writes: set[AttributeKey] = field(default_factory=set)
    """The attributes whose arrays the function, or a function that it calls, writes to."""
    owner: cst.ClassDef | None = None
    """The class, if the function is a method."""
    returns_value: bool = False
    is_value: bool = False
    """Whether the function is passed on as a value, so that its callers are unknown."""
    history: dict[str, Value] = field(default_factory=dict)
    """The possible values of the function's names, joined over all bindings."""


@dataclass
class Decision:
    """The decision about a node: edits, and the reasons to refuse it."""

    edits: list[Edit] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    refusals: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    keeps_numpy: bool = False
    """Whether the node is a name of NumPy that stays."""


@dataclass
class Passage:
    """The facts about a loop or branch from the last time that it was followed."""

    frame: Frame
    before: dict[str, Value]
    """The values of the names at its beginning; for a loop, at the beginning of any iteration."""
    value: Value
    """The value of a loop's iterable, or of the test."""


def _not_set(node: cst.Call, functions: list[cst.FunctionDef], frame: Frame) -> None:
    raise AssertionError("`plan` has not set the handler of such calls")


class World:
    """A module and the facts that have been found out about it.

    Args:
        facts: the facts about the module's text.
        program: the modules that are translated together with this module.
        file: the path of the module's file.
    """

    def __init__(self, facts: Facts, program: Program, file: str) -> None:
        self.facts = facts
        self.program = program
        self.file = file
        self.table: Table = table()
        self.tf = facts.fresh_name(facts.module, "tf")
        self.tnp = facts.fresh_name(facts.module, "tnp")
        self.globals: dict[str, Value] = {}
        self.decisions: dict[cst.CSTNode, Decision] = {}
        self.passages: dict[cst.CSTNode, Passage] = {}
        self.called_functions: dict[cst.Call, list[cst.FunctionDef]] = {}
        """Call -> the functions of the program that it may run."""
        self.method_runs: set[cst.CSTNode] = set()
        """The calls and attributes that run a method of the program."""
        self.shared_owners: dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None] = {}
        """Names that several functions bind: function and name -> the owner; None is the module."""
        self.on_inline_write: Callable[[cst.Call, list[cst.FunctionDef], Frame], None] = _not_set
        self._helper_names: dict[str, str] = {}
        self._names: dict[tuple[cst.CSTNode, str], str] = {}

    def inline_writes(self, node: cst.Call, functions: list[cst.FunctionDef], frame: Frame) -> None:
        """Handle a call in an expression that writes to its arguments; `functions` provides the handler."""
        self.on_inline_write(node, functions, frame)

    def forget(self, node: cst.CSTNode) -> None:
        """Drop the decision on a node, because the node is followed again."""
        self.decisions.pop(node, None)

    def edit(self, node: cst.CSTNode, edit: Edit, *helpers: str) -> None:
        """Plan the edit of a node; the translation will need these helpers."""
        decision = self.decisions.setdefault(node, Decision())
        decision.edits.append(edit)
        decision.helpers.update(helpers)

    def keep(self, node: cst.CSTNode) -> None:
        """Let a name of NumPy stay, with its import."""
        self.decisions.setdefault(node, Decision()).keeps_numpy = True

    def refuse(self, node: cst.CSTNode, code: str, **words: str) -> Value:
        """Refuse a node, and return an unknown value for it."""
        self.decisions.setdefault(node, Decision()).refusals.append((code, words))
        return unknown(node)

    def helper(self, name: str) -> str:
        """Return the name of a helper in this module."""
        if name not in self._helper_names:
            self._helper_names[name] = self.facts.fresh_name(self.facts.module, name)
        return self._helper_names[name]

    def name(self, base_name: str, node: cst.CSTNode, frame: Frame) -> str:
        """Return an unused name for a statement's helper variable; the name is the same in every round."""
        if (node, base_name) not in self._names:
            where = frame.function if frame.function is not None else self.facts.module
            self._names[node, base_name] = self.facts.fresh_name(where, base_name)
        return self._names[node, base_name]

    def note_change(self, is_change: bool = True) -> None:
        """Record whether this round has found a new fact."""
        self.program.has_new_facts |= is_change

    def summary(self, node: cst.FunctionDef | cst.Lambda) -> Summary:
        """Return the known facts of a function; a function that has none yet is a function of this module."""
        summaries = self.program.summaries
        if node not in summaries:
            summaries[node] = Summary(node, self)
        return summaries[node]

    @property
    def summaries(self) -> list[Summary]:
        """The functions of this module."""
        return [summary for summary in self.program.summaries.values() if summary.world is self]

    def read_global(self, name: str) -> Value:
        """Return the value of a global variable for code outside of the module's own statements."""
        value = self.globals.get(name)
        return NO_VALUE if value is None else self.outer_value(value, ("global", name, self))

    def outer_value(self, value: Value, root: object) -> Value:
        """Return the value of a variable of another scope. If the variable holds the array of an attribute,
        calls cannot tell.
        """
        for key in attributes_in(value.memory):
            self.program.classes.share(key)
        return in_outer_memory(value, root)

    def learn(self, known_values: dict[str, Value], name: str, value: Value | None) -> None:
        """Add a value to the possible values of a name."""
        before = known_values.get(name)
        after = join(before, value)
        if after is not None and after != before:
            known_values[name] = after
            self.note_change()


@dataclass
class Frame:
    """The state of one run through the statements of a function, or of the module."""

    world: World
    function: cst.FunctionDef | cst.Lambda | None
    env: dict[str, Value]
    live: Mapping[cst.CSTNode, Names] = field(default_factory=dict)
    """Statement -> the names that are read after it."""
    always_live: frozenset[str] = frozenset()
    """Names that inner functions may read at any time."""
    breaks: list[dict[str, Value]] = field(default_factory=list)
    continues: list[dict[str, Value]] = field(default_factory=list)
    raise_states: list[list[dict[str, Value]]] = field(default_factory=list)
    """Of each `try` around: what names may be where its body is left by an exception."""
    is_returned: bool = False
    """What follows runs when a result has been computed: a `finally`."""
    statement: cst.CSTNode | None = None
    """The simple statement at hand."""
    writing_call: cst.Call | None = None
    """The call in the statement at hand that may write to its arguments."""

    @property
    def summary(self) -> Summary | None:
        """The summary of the function; None for the module."""
        return self.world.summary(self.function) if self.function is not None else None

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in this scope."""
        value = limit_depth(value)
        self.env[name] = value
        if (self.function, name) in self.world.shared_owners:
            self.world.learn(self.shared_names(name), name, value)
            return
        summary = self.summary
        history = self.world.globals if summary is None else summary.history
        self.world.learn(history, name, value)

    def shared_names(self, name: str) -> dict[str, Value]:
        """Return the dictionary with the values of a name that several functions bind."""
        owner = self.world.shared_owners[self.function, name]
        return self.world.globals if owner is None else self.world.summary(owner).history  # type: ignore[arg-type]

    def inner(self) -> Frame:
        """Return a copy of this frame with its own names, for a comprehension or lambda."""
        return Frame(self.world, self.function, dict(self.env), self.live, self.always_live)

    def take_back(self, inner: Frame, own_names: Iterable[str]) -> None:
        """Add the facts of an inner frame about this frame's names: containers may have got items.

        Args:
            inner: the frame of a comprehension or lambda that has been followed.
            own_names: the names that the comprehension or lambda binds.
        """
        for name in self.env.keys() - set(own_names):
            if inner.env[name] != self.env[name]:
                self.bind(name, union([self.env[name], inner.env[name]]))


#: Returns the possible values of an expression.
Evaluate = Callable[[cst.CSTNode, Frame], Value]


def merge(*envs: dict[str, Value] | None) -> dict[str, Value] | None:
    """Return the values of the names where several paths meet; None if no path arrives."""
    states = [env for env in envs if env is not None]
    if not states:
        return None
    names = dict.fromkeys(name for env in states for name in env)  # in an order that no hash decides
    return {name: union(env.get(name) for env in states) for name in names}


def positional(parameters: Sequence[str]) -> str:
    """Return parameters as a text, for messages."""
    return ", ".join(parameter for parameter in parameters if parameter != "_")

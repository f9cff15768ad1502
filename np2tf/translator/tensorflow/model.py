"""The state of the interpreter: program, modules, classes, functions, frames, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import libcst as cst

from np2tf.translator.facts.dataflow import Names
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.scopes import FreshNames
from np2tf.translator.linking.modules import Modules
from np2tf.translator.rewrites.plan import EditedNode
from np2tf.translator.tensorflow.borders import Borders
from np2tf.translator.tensorflow.numpy_table import Table, table
from np2tf.translator.tensorflow.values import (
    HOST,
    NO_VALUE,
    ExchangedMemory,
    Value,
    in_memory,
    in_outer_memory,
    join,
    limit_depth,
    plain,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import words

# -- classes -------------------------------------------------------------------------------------------------
# The classes of a program, and the possible values of the attributes of their objects.

#: The class at the top of the bases, and the name of the attribute.
AttributeKey = tuple[cst.ClassDef, str]


@dataclass
class ClassFacts:
    """The facts about one class."""

    node: cst.ClassDef
    base: ClassFacts | None = None
    """The class of the program that it derives from."""
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    fields: dict[str, Value | None] = field(default_factory=dict)
    """The fields of a dataclass, with the values of their defaults, in their order."""
    is_dataclass: bool = False

    @property
    def root_class(self) -> cst.ClassDef:
        """The class at the top of the bases."""
        return self.node if self.base is None else self.base.root_class

    def find(self, name: str) -> cst.FunctionDef | None:
        """Return the method of this name, of the class or of its bases."""
        if name in self.methods:
            return self.methods[name]
        return self.base.find(name) if self.base is not None else None

    def every_field(self) -> dict[str, Value | None]:
        """Return the fields of the class and of its bases, in the order of the constructor's parameters."""
        return {**(self.base.every_field() if self.base is not None else {}), **self.fields}


def decorator_names(node: cst.FunctionDef | cst.ClassDef) -> list[str]:
    """Return the last names of the decorators; "" for a decorator without a name."""
    names = []
    for decorator in node.decorators:
        func = decorator.decorator
        func = func.func if isinstance(func, cst.Call) else func
        name = func.attr if isinstance(func, cst.Attribute) else func
        names.append(name.value if isinstance(name, cst.Name) else "")
    return names


class Classes:
    """The classes of a program; `has_new_facts` tells whether this round has found a new fact."""

    def __init__(self) -> None:
        self._facts: dict[cst.ClassDef, ClassFacts] = {}
        self._values: dict[AttributeKey, Value] = {}
        self._keys_read: set[AttributeKey] = set()
        self._shared_keys: set[AttributeKey] = set()
        self._groups: dict[AttributeKey, frozenset[AttributeKey]] = {}
        self._origins: dict[object, set[AttributeKey]] = {}
        self.has_new_facts = False

    def add(self, facts: ClassFacts) -> None:
        """Record the facts about a class."""
        self._facts[facts.node] = facts

    def facts(self, node: cst.ClassDef) -> ClassFacts:
        """Return the facts about a class."""
        return self._facts[node]

    def root_class(self, value: Value) -> cst.ClassDef | None:
        """Return the top of the bases of a class, or of an object's class; None if there may be several."""
        is_object = value.only("object", "none") and value.may("object")
        if len(value.classes) != 1 or not (is_object or value.only("class")):
            return None
        (node,) = value.classes
        return self._facts[node].root_class

    def derived(self, node: cst.ClassDef) -> list[cst.ClassDef]:
        """Return the classes that have the same top of their bases as a class."""
        root_class = self._facts[node].root_class if node in self._facts else node
        classes = [facts.node for facts in self._facts.values() if facts.root_class is root_class]
        return [*classes, *([] if node in classes else [node])]

    def shows_fields(self, node: cst.ClassDef) -> bool:
        """Return whether an object's text may show dataclass fields; `node` is the top of its bases."""
        classes = [facts for facts in self._facts.values() if facts.root_class is node and facts.is_dataclass]
        return any(facts.find("__repr__") is None and facts.find("__str__") is None for facts in classes)

    def methods(self, root_class: cst.ClassDef, name: str) -> list[cst.FunctionDef]:
        """Return the methods of this name, of all classes that derive from a class."""
        return [
            facts.methods[name]
            for facts in self._facts.values()
            if facts.root_class is root_class and name in facts.methods
        ]

    def read(self, key: AttributeKey) -> Value:
        """Return the possible values of an attribute; its memory belongs to the attribute."""
        self._keys_read.add(key)
        return self._values.get(key, NO_VALUE)

    def learn(self, key: AttributeKey, value: Value) -> None:
        """Add a value to the possible values of an attribute."""
        if value.is_undetermined:
            return
        before = self._values.get(key)
        after = join(before, in_outer_memory(value, attribute_root(key)))
        after = limit_depth(after) if after is not None else None
        if after is not None and after != before:
            self._values[key] = after
            self.has_new_facts = True

    def share(self, key: AttributeKey) -> None:
        """Record that another name or object may keep the arrays of an attribute."""
        if key not in self._shared_keys:
            self._shared_keys.add(key)
            self.has_new_facts = True

    def keep(self, key: AttributeKey, memory: frozenset[object]) -> None:
        """Record that an attribute keeps arrays; attributes that keep the same array share it."""
        for root in memory:
            keys = self._origins.setdefault(root, set())
            keys.add(key)
            if len(keys) > 1 or isinstance(root, tuple):
                for other_key in (*keys, *attributes_in(frozenset([root]))):
                    self.share(other_key)

    def unite(self, keys: Iterable[AttributeKey]) -> None:
        """Record that attributes exchange their arrays."""
        group = frozenset(member for key in keys for member in self.group(key))
        for key in group:
            self.has_new_facts |= self.group(key) != group
            self._groups[key] = group

    def group(self, key: AttributeKey) -> frozenset[AttributeKey]:
        """Return the attributes that exchange arrays with an attribute, and the attribute itself."""
        return self._groups.get(key, frozenset([key]))

    def is_shared(self, key: AttributeKey) -> bool:
        """Return whether another name or object may keep the arrays of an attribute."""
        return not self._shared_keys.isdisjoint(self.group(key))

    def unset_attributes(self) -> Iterator[AttributeKey]:
        """Yield the attributes that the program reads and never sets."""
        yield from (key for key in self._keys_read if key not in self._values)


def attribute_root(key: AttributeKey) -> tuple[str, cst.ClassDef, str]:
    """Return the root of the memory of an attribute's arrays."""
    return ("attribute", *key)


def attributes_in(memory: frozenset[object]) -> list[AttributeKey]:
    """Return the attributes whose memory is part of this memory."""
    return [(root[1], root[2]) for root in memory if isinstance(root, tuple) and root[0] == "attribute"]


# -- program -------------------------------------------------------------------------------------------------
# The modules that are translated together, and the names that these import from one another.


class Program:
    """The modules that are translated together; `files` is empty for a module alone."""

    def __init__(
        self,
        files: Iterable[tuple[str, str]] = (),
        borders: Borders | None = None,
    ) -> None:
        self._modules = Modules(files)
        self.borders = borders if borders is not None else Borders()
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
        """Begin a round, which has found no new fact. What the round before has asked for may be less than
        what the program needs: it did not know all values.
        """
        self.has_new_facts = self.classes.has_new_facts = False
        self.borders.drop_wanted()

    def module(self, name: str, file: str) -> Value | None:
        """Return the module that a file imports by a name, relative or not; None if not of the program."""
        is_relative = name.startswith(".")
        path = self._modules.relative(file, name) if is_relative else self._modules.absolute(name)
        return self._value_of(path)

    def member(self, module: Value, name: str) -> Value | None:
        """Return a module's global variable or submodule; None if the program does not show such a one."""
        (file,) = module.modules
        world = self.worlds[file]
        if self.borders.has("file", file):
            is_bound = name in world.facts.scopes.module.bindings
            below = None if is_bound else self._value_of(self._modules.below(file, name))
            return below or _constant(name, world.facts)
        value = world.read_global(name)
        if value.is_undetermined:
            bound = name in world.facts.scopes.module.bindings
            return NO_VALUE if bound else self._value_of(self._modules.below(file, name))
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
        if imported_file != file:  # `from . import name` in a package's own file
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


#: Literals -> the kinds of their values.
_LITERALS = {cst.Integer: "int", cst.Float: "float", cst.SimpleString: "str"}


def _constant(name: str, facts: Facts) -> Value:
    """Return the value of a name of a module that stays on NumPy: a number or text, or a host value."""
    bindings = facts.scopes.module.bindings.get(name, [])
    value = facts.parents.assigned_value(bindings[0]) if len(bindings) == 1 else None
    kind = _LITERALS.get(type(value))  # type: ignore[arg-type]
    return plain(kind) if kind is not None else plain("function", HOST)


# -- world ---------------------------------------------------------------------------------------------------
# The state of a module while its values are followed, and the decision about each place.

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
    doubtful_writes: set[str] = field(default_factory=set)
    """Of these, the parameters that may be numbers, which the function binds to other numbers."""
    attribute_writes: set[AttributeKey] = field(default_factory=set)
    """The attributes whose arrays the function, or a function that it calls, writes to."""
    keeps: set[tuple[str, AttributeKey]] = field(default_factory=set)
    """The parameters whose arrays attributes keep, and these attributes."""
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


class World:
    """A module and the facts that have been found out about it.

    `expressions` has, by kind, the functions that return possible values and plan edits.
    """

    def __init__(
        self,
        facts: Facts,
        program: Program,
        file: str,
        expressions: Mapping[type[cst.CSTNode], Callable[[Any, Frame], Value]],
    ) -> None:
        self.facts = facts
        self.program = program
        self.file = file
        self.expressions = expressions
        self.table: Table = table()
        self._fresh_names = FreshNames(facts.scopes)
        self.tf = self._fresh_names.name(facts.module, "tf")
        self.tnp = self._fresh_names.name(facts.module, "tnp")
        self.globals: dict[str, Value] = {}
        self.decisions: dict[cst.CSTNode, Decision] = {}
        self.passages: dict[cst.CSTNode, Passage] = {}
        self.values: dict[cst.CSTNode, Value] = {}
        """The possible values of expressions from the last time that they were followed."""
        self.lambda_results: dict[cst.Lambda, Value] = {}
        self.computing: set[cst.CSTNode] = set()
        """The calls of NumPy that TensorFlow computes."""
        self.called_functions: dict[cst.Call, list[cst.FunctionDef]] = {}
        """Call -> the functions of the program that it may run."""
        self.method_runs: set[cst.CSTNode] = set()
        """The calls and attributes that run a method of the program."""
        self.shared_owners: dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None] = {}
        """Names that several functions bind: function and name -> the owner; None is the module."""
        self._helper_names: dict[str, str] = {}
        self._names: dict[tuple[cst.CSTNode, str], str] = {}

    def forget(self, node: cst.CSTNode) -> None:
        """Drop the decision on a node, because the node is followed again."""
        self.decisions.pop(node, None)
        self.computing.discard(node)

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
            self._helper_names[name] = self._fresh_names.name(self.facts.module, name)
        return self._helper_names[name]

    def dtype_name(self, dtype: str) -> str:
        """Return the name of a dtype in this module."""
        return f"{self.tnp}.{'bool_' if dtype == 'bool' else dtype}"

    def name(self, base_name: str, node: cst.CSTNode, frame: Frame) -> str:
        """Return an unused name for a statement's helper variable; the name is the same in every round."""
        if (node, base_name) not in self._names:
            where = frame.function if frame.function is not None else self.facts.module
            self._names[node, base_name] = self._fresh_names.name(where, base_name)
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

    def evaluate(self, node: cst.CSTNode) -> Value:
        """Return the possible values of an expression, and plan its edit or refuse it."""
        world = self.world
        world.forget(node)
        handler = world.expressions.get(
            cst.BaseExpression if world.program.borders.concerns(node) else type(node)
        )
        if handler is None:
            value = world.refuse(node, "NP2TF603", what=_kind_in_words(node))
        else:
            value = handler(node, self)
        world.values[node] = value
        return value

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in this scope."""
        value = limit_depth(value)
        if self.holds_host(name) and value.may_be_tensor:
            self.world.program.borders.want_memory(value.memory)
            statement = self.statement if self.statement is not None else self.world.facts.module
            self.world.refuse(statement, "NP2TF604", name=name, other="NumPy")
            value = Value(frozenset([HOST]), memory=value.memory)
        self.env[name] = value
        if (self.function, name) in self.world.shared_owners:
            self.world.learn(self.shared_names(name), name, value)
            return
        summary = self.summary
        history = self.world.globals if summary is None else summary.history
        self.world.learn(history, name, value)

    @property
    def scope(self) -> object:
        """The function; the file, if the frame is the module's."""
        return self.function if self.function is not None else self.world.file

    def holds_host(self, name: str) -> bool:
        """Return whether a name of this scope holds what is NumPy's."""
        borders = self.world.program.borders
        if (self.function, name) in self.world.shared_owners:
            owner = self.world.shared_owners[self.function, name]
            return borders.has("name", owner if owner is not None else self.world.file, name)
        return borders.has("name", self.scope, name)

    def shared_names(self, name: str) -> dict[str, Value]:
        """Return the dictionary with the values of a name that several functions bind."""
        owner = self.world.shared_owners[self.function, name]
        return self.world.globals if owner is None else self.world.summary(owner).history  # type: ignore[arg-type]

    def inner(self) -> Frame:
        """Return a copy of this frame with its own names, for a comprehension or lambda."""
        return Frame(self.world, self.function, dict(self.env), self.live, self.always_live)

    def take_back(self, inner: Frame, own_names: Iterable[str]) -> None:
        """Add an inner frame's facts about other names than its own: containers may have got items."""
        for name in self.env.keys() - set(own_names):
            if inner.env[name] != self.env[name]:
                self.bind(name, union([self.env[name], inner.env[name]]))


def _kind_in_words(node: cst.CSTNode) -> str:
    return {"Yield": "`yield`", "Await": "`await`", "Set": "a set", "SetComp": "a set comprehension"}.get(
        type(node).__name__, type(node).__name__
    )


def merge(*envs: dict[str, Value] | None) -> dict[str, Value] | None:
    """Return the values of the names where several paths meet; None if no path arrives."""
    states = [env for env in envs if env is not None]
    if not states:
        return None
    names = dict.fromkeys(name for env in states for name in env)  # in an order that no hash decides
    return {name: union(env.get(name) for env in states) for name in names}


# -- shared names --------------------------------------------------------------------------------------------
# Names that several functions bind (`global`, `nonlocal`): one set of possible values holds everywhere.

#: Kinds of immutable values.
_IMMUTABLE = words("int float bool complex str none range dtype shape scalar generator other function module")


def shared_names(facts: Facts) -> dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None]:
    """Return the owner of each name that several functions bind, by function; None is the module."""
    owners: dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None] = {}
    for scope in facts.scopes.module.within():
        for name in scope.nonlocals | scope.globals:
            owner = scope.module if name in scope.globals else scope.owner_of(name)
            node = None if owner is None or owner.is_module else owner.node
            owners[None if scope.is_module else scope.node, name] = node
            owners[node, name] = node
    return owners


def is_shared(node: cst.Name, frame: Frame) -> bool:
    """Return whether several functions bind a name, and it is not the variable of a comprehension."""
    key = (frame.function, node.value)
    if key not in frame.world.shared_owners:
        return False
    owner = frame.world.facts.scopes.owner(node)
    shared_owner = frame.world.shared_owners[key]
    return owner is None or (owner.is_module if shared_owner is None else owner.node is shared_owner)


def refuse_shared(node: cst.CSTNode, name: str, value: Value, frame: Frame) -> None:
    """Refuse to bind a name to an array, or to a container of arrays, if other functions may bind it."""
    if (
        (frame.function, name) in frame.world.shared_owners
        and not value.is_undetermined
        and (value.functions or not value.kinds <= _IMMUTABLE)
    ):
        owner = frame.world.shared_owners[frame.function, name]
        scope = owner if owner is not None else frame.world.file
        frame.world.program.borders.want("name", scope, name)
        frame.world.program.borders.want_memory(value.memory)
        frame.world.refuse(node, "NP2TF603", what="`global` or `nonlocal` for something other than a number")


# -- turns ---------------------------------------------------------------------------------------------------
# Loops that exchange names (`old, new = new, old`): each name has memory of its own in every iteration.

Env = dict[str, Value]


class Turns:
    """The memory of names at the beginning of an iteration of one loop.

    Several states arrive at the beginning of an iteration. Names that share memory in a state form a group.
    If a name of a group has different memory in different states, the group gets a root of its own: in each
    iteration the memory of the group is shared with no other name.
    """

    def __init__(self, loop: cst.CSTNode, scope: object) -> None:
        self._loop = loop
        self._scope = scope
        self._leader: dict[str, str] = {}

    def head(self, *states: Env) -> Env:
        """Return the values of the names at the beginning of an iteration."""
        together = merge(*states) or {}
        names = sorted(name for name, value in together.items() if value.memory)
        for state in states:
            self._bring_together(names, state)
        for group in self._groups(names):
            if all(_have_same_memory([state.get(name) for state in states]) for name in group):
                continue
            for name in group:
                outside = [root for root in together[name].memory if isinstance(root, tuple)]
                memory = frozenset([ExchangedMemory(self._loop, group[0], self._scope), *outside])
                together[name] = in_memory(together[name], memory)
        return together

    def _bring_together(self, names: Sequence[str], state: Env) -> None:
        for position, name in enumerate(names):
            for other_name in names[position + 1 :]:
                known = name in state and other_name in state
                if known and not state[name].memory.isdisjoint(state[other_name].memory):
                    self._leader[self._of(other_name)] = self._of(name)

    def _of(self, name: str) -> str:
        while self._leader.get(name, name) != name:
            name = self._leader[name]
        return name

    def _groups(self, names: Sequence[str]) -> list[list[str]]:
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self._of(name), []).append(name)
        return list(groups.values())


def _have_same_memory(values: Sequence[Value | None]) -> bool:
    """Return whether a name has the same memory in all states that have it."""
    return len({value.memory for value in values if value is not None and value.memory}) <= 1

"""The function being lowered: marked nodes, the names of its scope, and inner functions that see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from np2tf.translator.facts.dataflow import Names, bound_after, free_names, ordered_writes, reads, writes
from np2tf.translator.sources.options import LINE_LENGTH
from np2tf.translator.tree.nodes import children, dotted_name, walk

# -- marks ---------------------------------------------------------------------------------------------------
# The nodes to lower, which are tracked while the tree is edited, and the exception that refuses a
# lowering.


class CannotLower(Exception):
    """A construct cannot be lowered with its meaning kept: code, place and the words of the message."""

    def __init__(self, code: str, node: cst.CSTNode, **args: str) -> None:
        super().__init__(code)
        self.code, self.node, self.words = code, node, args
        self.loop: cst.For | None = None
        """The innermost lowered `for` around the node, which may stay a Python loop instead."""


@dataclass
class Marks:
    """The `if`, `while`, `for` and `assert` nodes to lower, and the flags that stop lowered `for` loops."""

    lowered_nodes: set[cst.CSTNode] = field(default_factory=set)
    stops: dict[cst.CSTNode, str] = field(default_factory=dict)

    independent: set[cst.CSTNode] = field(default_factory=set)
    """The `for` loops whose iterations were found to be independent of each other."""

    origin: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    """Maps a node that replaced another node to the original node."""

    def copy(self) -> Marks:
        """Return a copy of the marks for a trial lowering."""
        return Marks(set(self.lowered_nodes))

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node in self.lowered_nodes

    def carry(self, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        """Return `new`, which from now on has the marks of `old`."""
        if old is new:
            return new
        self.origin[new] = self.origin.get(old, old)
        if old in self.lowered_nodes:
            self.lowered_nodes.add(new)
        if old in self.stops:
            self.stops[new] = self.stops[old]
        return new


# -- scope ---------------------------------------------------------------------------------------------------
# The scope whose statements are being lowered: a function, or a helper made for it.


@dataclass
class Scope:
    """The state of names while the statements of one scope are lowered, in order."""

    locals: Names
    """The names that are local to the user's function. Only these names can be state."""
    bound_names: Names
    """The names that are certainly bound at the present statement."""
    maybe: Names = frozenset()
    """The names that may be bound on some path."""
    depth: int = 1
    """The indentation depth of the statements, relative to the user's function."""
    width: int = LINE_LENGTH
    """The maximal line length, counted from the same indentation."""
    presets: list[str] = field(default_factory=list)
    """The names to set to `undefined` at the scope's start."""
    added_names: Names = frozenset()
    """The flags and results that lowering added."""
    counters: Names = frozenset()
    """The names that are plain numbers in every binding."""
    outer_names: Names = frozenset()
    """The local names that are declared nonlocal, and so belong to a function around this one."""

    @property
    def room(self) -> int:
        """The length that the lines of its statements may have, without their indentation."""
        return self.width - 4 * self.depth

    def record(self, statements: Sequence[cst.CSTNode]) -> None:
        """Record that statements have been emitted."""
        self.maybe |= writes(statements)
        after = bound_after(statements, self.bound_names)
        if after is not None:
            self.bound_names = after

    def written_names(self, nodes: Sequence[cst.CSTNode]) -> list[str]:
        """Return the function's own names that `nodes` write, in order of writing, with added names last."""
        names = [name for name in ordered_writes(nodes) if name in self.locals]
        return sorted(names, key=lambda name: name in self.added_names)

    def value(self, name: str) -> str:
        """Return the expression for a name's value here: the name, or `undefined` if it is not bound yet."""
        if name in self.bound_names:
            return name
        if name not in self.maybe:
            return f'np2tf.undefined("{name}")'
        # The name is bound on some paths only: the scope's start gives it a value on all paths.
        self.presets.append(name)
        self.bound_names |= {name}
        return name

    def helper(self, body: Sequence[cst.CSTNode], params: Sequence[str]) -> Scope:
        """Return the scope of a helper function with this body."""
        parameter_names = frozenset(params)
        written_names = writes(body)
        return Scope(
            self.locals,
            (self.bound_names - written_names) | parameter_names,
            parameter_names,
            self.depth + 1,
            self.width,
            added_names=self.added_names,
            counters=self.counters,
            outer_names=self.outer_names,
        )

    def inner(self, maybe: Names = frozenset()) -> Scope:
        """Return the scope for a plain Python block inside this scope."""
        return replace(self, maybe=self.maybe | maybe, depth=self.depth + 1)


# -- closures ------------------------------------------------------------------------------------------------
# Inner functions and lambdas that see the names which a lowered construct writes.
#
# A lowered construct keeps the names that it writes as variables of its helper functions. An inner function
# defined outside of the construct would neither see nor rebind these variables. Such a name is *shared*:
# the helper takes its value under another name and rebinds it with `nonlocal`. This is right for inner
# functions that are only called. An inner function that is stored or passed on is *loose*: it may read the
# name at any time.

Inner = cst.FunctionDef | cst.Lambda
_NO_NAMES: Names = frozenset()
#: Functions that call their argument only before they return.
_IMMEDIATE = frozenset({"sorted", "min", "max", "sum", "list", "tuple", "any", "all"})
#: Functions that call their argument while their result is iterated over.
_LAZY = frozenset({"map", "filter"})


_INNER = frozenset({cst.FunctionDef, cst.Lambda})


class Closures:
    """The inner functions of one function, by name."""

    def __init__(self, function: cst.FunctionDef) -> None:
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._reads: dict[str, Names] = {}
        self._rebinds: dict[str, Names] = {}
        self.loose: Names = _NO_NAMES
        """The names that loose inner functions read or rebind."""
        inner = self._collect(function)
        groups: dict[str, list[Inner]] = {}
        for inner_function in inner:
            name = self._name(inner_function)
            if name is not None:
                groups.setdefault(name, []).append(inner_function)
            elif not self._is_immediate(inner_function):
                self.loose |= free_names(inner_function)
        references = {
            node.value  # type: ignore[attr-defined]
            for node in self._parents
            if type(node) is cst.Name and not self._is_call(node)  # type: ignore[arg-type]
        }
        for name, functions in groups.items():
            names = _NO_NAMES.union(*map(free_names, functions))
            self._reads[name], self._rebinds[name] = names, _NO_NAMES.union(*map(rebound, functions))
            self.loose |= names if name in references else _NO_NAMES
        self._follow_calls()
        self._parents = {}

    def _collect(self, function: cst.FunctionDef) -> list[Inner]:
        functions: list[Inner] = []
        stack: list[cst.CSTNode] = [function]
        while stack:
            top = stack.pop()
            if type(top) in _INNER and top is not function:
                functions.append(top)  # type: ignore[arg-type]
            for child in children(top):
                self._parents[child] = top
                stack.append(child)
        return functions

    def _name(self, function: Inner) -> str | None:
        """Return the name under which an inner function is called."""
        if type(function) is cst.FunctionDef:
            return function.name.value
        assign = self._parents[function]
        target = assign.targets[0].target if type(assign) is cst.Assign else None
        return target.value if type(target) is cst.Name and len(assign.targets) == 1 else None  # type: ignore[attr-defined]

    def _is_immediate(self, node: cst.CSTNode) -> bool:
        """Return whether a function is passed to a function that calls it only at once, if ever."""
        arg = self._parents[node]
        call = self._parents[arg] if type(arg) is cst.Arg else None
        name = dotted_name(call.func) if type(call) is cst.Call else None
        if call is not None and name in _LAZY:
            return self._is_immediate(call)
        return name is not None and (name in _IMMEDIATE or name.startswith("np2tf."))

    def _is_call(self, use: cst.Name) -> bool:
        """Return whether a mention of a name binds it or calls it."""
        up = self._parents[use]
        if type(up) is cst.Call:
            return up.func is use
        if type(up) is cst.Attribute:
            return up.attr is use
        if type(up) is cst.Arg:
            return up.keyword is use or self._is_immediate(use)
        if type(up) is cst.Param:
            return up.name is use
        return type(up) in (cst.AssignTarget, cst.FunctionDef, cst.NameItem)

    def _follow_calls(self) -> None:
        """Add to the names that each inner function sees those of the inner functions that it calls."""
        for table in (self._reads, self._rebinds):
            while True:
                new_table = {
                    name: names
                    | _NO_NAMES.union(
                        *(table.get(called_name, _NO_NAMES) for called_name in self._reads[name])
                    )
                    for name, names in table.items()
                }
                if new_table == table:
                    break
                table.update(new_table)

    # -- one construct --------------------------------------------------------------------------------------

    def rebinding_function(self, node: cst.CSTNode) -> str | None:
        """Return an inner function mentioned in `node` that rebinds names of the function around it."""
        return next((name for name in sorted(reads(node)) if self._rebinds.get(name)), None)

    def written_names(self, node: cst.CSTNode, parts: Sequence[cst.CSTNode], scope: Scope) -> list[str]:
        """Return the function's own names that `parts` write, including the names that its calls rebind.

        Raises:
            CannotLower: if a call rebinds a name of a function further out, which is no variable here.
        """
        names = scope.written_names(parts)
        mentions = _NO_NAMES.union(*map(reads, parts)) | writes(parts)
        rebindings = _NO_NAMES.union(*(self._rebinds.get(name, _NO_NAMES) for name in mentions)).difference(
            names
        )
        if not rebindings <= scope.locals:
            _refuse(node, f"a call that rebinds `{min(rebindings - scope.locals)}` of an outer scope")
        return [*names, *sorted(rebindings)]

    def shared_names(
        self, node: cst.CSTNode, parts: Sequence[cst.CSTNode], names: Sequence[str], scope: Scope
    ) -> list[str]:
        """Return the `names` that inner functions defined outside of `parts` see when `parts` call them.

        Raises:
            CannotLower: if a loose inner function sees a name, because it may read it at any time.
        """
        late = sorted(self.loose & set(names))
        if late:
            _refuse(node, f"`{late[0]}`, which an inner function reads")
        outside = _NO_NAMES.union(*map(reads, parts)) - writes(parts)
        closure_names = _NO_NAMES.union(*(self._reads.get(name, _NO_NAMES) for name in outside))
        closure_names |= _NO_NAMES.union(*(self._rebinds.get(name, _NO_NAMES) for name in outside))
        result = [name for name in names if name in closure_names]
        for name in result:
            if name not in scope.bound_names:  # a name that an inner function rebinds must be bound here
                scope.presets.append(name)
                scope.bound_names |= {name}
        return result

    def kept_names(self, parts: Sequence[cst.CSTNode], scope: Scope) -> Names:
        """Return the names that another function may read after `parts` have run."""
        inside = writes(parts)
        return scope.outer_names.union(*(names for name, names in self._reads.items() if name not in inside))

    def check_leaving(self, node: cst.CSTNode, names: Sequence[str], state: Sequence[str]) -> None:
        """Raise CannotLower if an inner function in `state` that leaves the construct sees its `names`."""
        for name in state:
            if self._reads.get(name, _NO_NAMES) & set(names):
                _refuse(node, f"`{name}`, an inner function that is called after it")


def rebound(node: cst.CSTNode) -> Names:
    """Return the names that `node` declares nonlocal, and that so belong to an outer function."""
    return frozenset(
        item.name.value for part in walk(node) if type(part) is cst.Nonlocal for item in part.names
    )


def _refuse(node: cst.CSTNode, reason: str) -> None:
    raise CannotLower("NP2TF301", node, kind=type(node).__name__.lower(), reason=reason)

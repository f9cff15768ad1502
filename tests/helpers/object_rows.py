"""Loops and branches that write attributes of objects: of parameters, of objects in these, of new objects."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from tests.helpers.acceptance_rows import Row, row

_STATE = """
class State:
    kind = "state"

    def __init__(self, pos, total=0.0):
        self.pos = pos
        self.total = total
        self.flag = 0
        self.child = None
        self.history = []

    def grow(self, v):
        self.total = self.total + v


def linked(first, *rest):
    for one, other in zip([first, *rest], rest):
        one.child = other
    return first


def holding(*states):
    world = State(np.zeros(1))
    world.history = list(states)
    return world


def twice(state):
    return state, state


def with_its_array(state):
    return state, state.pos


"""
X = "np.arange(12.)"
S, T = "State(np.zeros(3))", "State(np.ones(3), 2.0)"


def _row(body: str, *calls: str, **known: Any) -> Row:
    """Return a program in which `State` is a class."""
    return row(_STATE + dedent(body).strip(), *calls, **known)


OBJECTS: dict[str, Row] = {
    "a parameter's attributes, in a line, a loop and a branch": _row(
        """
        def f(state, x):
            state.pos = state.pos + x[:3]
            for i in range(len(x)):
                state.total = state.total + x[i]
            if x.sum() > 0:
                state.flag = 1
            return state.total
        """,
        f"{S}, {X}",
        f"{T}, -{X}",
        numbers=True,
    ),
    "a parameter's array, written in place": _row(
        """
        def f(state, x):
            state.pos += x[:3]
            for i in range(len(x)):
                if x[i] > 4:
                    state.pos[0] = x[i]
                    state.pos[1:] *= 1.5
            return state
        """,
        f"{S}, {X}",
        f"{T}, -{X}",
    ),
    "an attribute of an attribute": _row(
        """
        def f(state, x):
            state.child.child.total = x[1]
            for i in range(len(x)):
                state.child.pos = state.child.pos + x[i]
                state.child.child.total *= 1.5
            if state.child.total < x[3]:
                state.child.total = x[3]
            return state.child.pos
        """,
        f"linked({S}, {T}, {S}), {X}",
        numbers=True,
    ),
    "one object under two names": _row(
        """
        def f(a, b, x):
            for i in range(len(x)):
                a.total = a.total + x[i]
                b.pos = b.pos * 0.5 + a.total
                if b.total > 10:
                    a.flag = b.flag + 1
            a.pos[0] = 7.0
            return a.total + b.pos
        """,
        f"*twice({S}), {X}",
        f"{S}, {T}, {X}",
        numbers=True,
    ),
    "an array that is an argument and an attribute": _row(
        """
        def f(a, x):
            a.pos[0] = 5.0
            for i in range(len(x)):
                a.total = a.total + x[0] + x[i]
            a.pos = a.pos + 1
            return x, a.total
        """,
        f"*with_its_array({S})",
        f"{S}, np.arange(12.)",
    ),
    "an attribute that becomes another's array": _row(
        """
        def f(a, b, x):
            if x[0] > 3:
                a.pos = b.pos
            for i in range(len(x)):
                a.total = a.total + x[i]
            return a.pos * 2
        """,
        f"{S}, {T}, {X}",
        f"{S}, {T}, {X} + 4",
    ),
    "attributes in a while loop that breaks": _row(
        """
        def f(state, x):
            while state.total < 100.0:
                state.total = state.total * 1.5 + x[2]
                state.flag += 1
                if state.flag > x[5]:
                    break
            else:
                state.flag = -1
            return state.flag
        """,
        f"{S}, {X}",
        f"{T}, 20 * {X}",
    ),
    "attributes and names in one loop": _row(
        """
        def f(state, x):
            best, where = -1.0, 0
            for i, v in enumerate(x):
                if v > best:
                    best, where = v, i
                    state.pos = np.full(3, v)
                elif v < -3:
                    state.flag, state.total = i, v
                    continue
                state.total += best
            return best, where
        """,
        f"{S}, {X}",
        f"{T}, {X} - 9",
        numbers=True,
    ),
    "a method of a parameter": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                state.grow(x[i])
            return state.total
        """,
        f"{S}, {X}",
    ),
    "a local name for an object": _row(
        """
        def f(state, x):
            child = state.child
            for i in range(len(x)):
                child.total = child.total + x[i]
                state.child.total = state.child.total * 2
            return child.total
        """,
        f"linked({S}, {T}), {X}",
        numbers=True,
    ),
    "an object that data choose": _row(
        """
        def f(a, b, x):
            if x[0] > 0:
                c = a
            else:
                c = b
            c.total = x[1]
            return x * 2
        """,
        f"{S}, {T}, {X}",
        refused_when_run="NP2TF516",
    ),
    "a list of objects": _row(
        """
        def f(states, x):
            for state in states:
                for i in range(len(x)):
                    state.total = state.total + x[i]
                if state.total > 70:
                    state.flag = 2
            states[0].pos[1] = 3.0
            return x[1:] * 2
        """,
        f"[{S}, {T}, State({X}[:2], 30.0)], {X}",
        numbers=True,
    ),
    "an attribute set on one side only": _row(
        """
        def f(state, x):
            if x[0] > 0:
                state.last = x * 2
            return state.last
        """,
        f"{S}, {X} + 1",
        f"{S}, {X}",
        handled=(f"{S}, {X}",),
    ),
    "an attribute that a loop sets first": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                state.last = x[i] * 2
                if x[i] > 5:
                    state.found = i
            return state.last + state.total
        """,
        f"{S}, {X}",
    ),
    "whether an attribute is there": _row(
        """
        def f(state, x):
            if x[0] > 0:
                state.last = x * 2
            if hasattr(state, "last"):
                return x
            return x + 1
        """,
        f"{S}, {X}",
        refused_when_run="NP2TF516",
    ),
    "an attribute of the class, set on the object in a branch": _row(
        """
        def f(state, x):
            if x[0] > 0:
                state.kind = "positive"
            return x * 2
        """,
        f"{S}, {X}",
        refused_when_run="NP2TF516",
    ),
    "a text in an attribute, on one side": _row(
        """
        def f(state, x):
            if x[0] > 0:
                state.flag = "positive"
            return x * 2
        """,
        f"{S}, {X} + 1",
        refused_when_run="NP2TF516",
    ),
    "None in an attribute, then an array": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                if state.child is None:
                    state.child = x[:3]
                else:
                    state.child = state.child + x[i]
            return state.child * 2
        """,
        f"{S}, {X}",
    ),
    "a list in an attribute that grows in a loop": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                state.history.append(x[i])
            return x * 2
        """,
        f"{S}, {X}",
    ),
    "an exception after attributes have been written": _row(
        """
        def f(state, x):
            state.flag = 3
            for i in range(len(x)):
                state.total = state.total + x[i]
                if x[i] > 8:
                    raise ValueError("too large")
            state.flag = 4
            return state.total
        """,
        f"{S}, {X}",
        f"{S}, {X} / 2",
        numbers=True,
    ),
    "attributes and a handler": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                try:
                    state.flag = i
                    if x[i] > 8:
                        raise ValueError("too large")
                    state.total = state.total + x[i]
                except ValueError:
                    state.total = -1.0
            return x * 2
        """,
        f"{S}, {X}",
        f"{S}, {X} / 2",
        handled=(f"{S}, {X}",),
        numbers=True,
    ),
    "int and float in an attribute": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                if x[i] > 4:
                    state.flag = x[i]
                else:
                    state.flag = i
            return state.flag + 0.5
        """,
        f"{S}, {X}",
        numbers=True,
    ),
    "an attribute of a parameter that is deleted": _row(
        """
        def f(state, x):
            if x[0] > 0:
                del state.flag
            return x * 2
        """,
        f"{S}, {X} + 1",
        refused="NP2TF401",
    ),
    "the object of a method, and another": row(
        """
        class Model:
            def __init__(self, w):
                self.w = w
                self.seen = 0

            def f(self, other, x):
                for i in range(len(x)):
                    self.w = self.w + x[i] * other.w
                    other.w = other.w * 0.5
                    if x[i] > 2:
                        other.seen += 1
                return self.w

        def f(one, other, x):
            return one.f(other, x)
        """,
        f"Model(np.ones(3)), Model(np.arange(3.)), {X}",
        f"*[Model(np.ones(3))] * 2, {X}",
    ),
    "an object made before a loop": _row(
        """
        def f(x):
            p = State(2 * x[:3], x[1])
            for i in range(len(x)):
                p.total = p.total * 0.5 + x[i]
                if p.total > 3:
                    p.pos = p.pos + p.total
                    p.flag += 1
            return p.total, p.pos, p.flag
        """,
        X,
        f"{X} - 9",
    ),
    "an object made here and given back": _row(
        """
        def f(x):
            p = State(x[:3])
            q = State(x, 1.0)
            p.child = q
            for v in x:
                q.total = q.total + v * p.total
                p.total = v
            return p, q, [q, p.pos]
        """,
        X,
        numbers=True,
    ),
    "an object that holds the caller's array": _row(
        """
        def f(x):
            p = State(x)
            for i in range(len(x) - 1):
                p.pos[i] = p.pos[i] + x[i + 1]
            if p.pos[0] > 0:
                p.pos = p.pos * 2
            p.pos[0] = -1.0
            return p
        """,
        X,
        f"{X} - 9",
    ),
    "an object that a parameter is given": _row(
        """
        def f(state, x):
            state.child = State(x[:2])
            for i in range(len(x)):
                state.child.total = state.child.total + x[i]
            return state.child.total
        """,
        f"{S}, {X}",
        f"linked({S}, {T}), {X}",
        numbers=True,
    ),
    "an object made in every round": _row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                p = State(x[i])
                if x[i] > 4:
                    p.total = x[i] * 2
                    p.flag = 1
                s += p.total + p.flag * p.pos
            return s
        """,
        X,
    ),
    "an object that is another one in every round": _row(
        """
        def f(x):
            p = State(x[0])
            for i in range(len(x)):
                p = State(p.pos + x[i])
            return p.pos
        """,
        X,
    ),
    "a dataclass, one of its base, a namespace": row(
        """
        import types
        from dataclasses import dataclass, field
        from types import SimpleNamespace

        SCALE = 3.0

        @dataclass
        class Box:
            low: float = 0.0
            high: float = 1.0
            seen: list = field(default_factory=list)

            def __post_init__(self):
                self.width = (self.high - self.low) * SCALE

        class Point:
            dimension = 2

            def __init__(self, x, y):
                self.x, self.y = x, y

        class Heavy(Point):
            __slots__ = ("mass",)

            def __init__(self, x, mass):
                super().__init__(x, -x)
                self.mass = mass

        def f(x):
            box, point = Box(high=x[3]), Heavy(x[1], 2.0)
            rest, last = types.SimpleNamespace(n=0), SimpleNamespace(v=x)
            for i in range(len(x)):
                point.x = point.x + point.mass * box.width
                if point.x > box.high:
                    point.mass *= -0.5
                    rest.n += 1
                last.v = last.v + point.y * point.dimension
            return point, rest.n, last.v, box.seen
        """,
        X,
        f"{X} - 9",
    ),
    "a namespace as a parameter": row(
        """
        from types import SimpleNamespace

        def f(p, x):
            while p.total < 50:
                p.total = p.total + x[2]
                p.steps += 1
                p.last = p.total * 2
            return p.last
        """,
        f"SimpleNamespace(total=1.0, steps=0), {X}",
        f"SimpleNamespace(total=99.0, steps=0, last=1.0), {X}",
        numbers=True,
    ),
    "a frozen dataclass that is written to": row(
        """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Box:
            low: float = 0.0

        def f(box, x):
            for i in range(len(x)):
                if x[i] > 3:
                    box.low = x[i]
            return x * 2
        """,
        f"Box(), {X}",
        f"Box(), {X} - 30",
    ),
    "a class that looks at what is set": row(
        """
        class Watched:
            def __init__(self):
                self.writes = 0

            def __setattr__(self, name, value):
                self.__dict__[name] = value
                print(name)

        def f(one, x):
            for i in range(len(x)):
                if x[i] > 3:
                    one.low = 1.0
            return x * 2
        """,
        f"Watched(), {X}",
        refused_when_run="NP2TF520",
    ),
    "a descriptor that keeps what is set": row(
        """
        class Positive:
            def __get__(self, one, kind=None):
                return self.value

            def __set__(self, one, value):
                self.value = value

        class Model:
            w = Positive()

        def f(one, x):
            one.w = 1.0
            for i in range(len(x)):
                if x[i] > 3:
                    one.w = x[i]
            return one.w
        """,
        f"Model(), {X}",
        refused_when_run="NP2TF520",
    ),
    "a property that sets": row(
        """
        class Model:
            def __init__(self, w):
                self._w = w

            @property
            def w(self):
                return self._w * 2

            @w.setter
            def w(self, value):
                self._w = value / 2

        def f(one, x):
            for i in range(len(x)):
                if x[i] > 3:
                    one.w = one.w + x[i]
            return one.w
        """,
        f"Model(1.0), {X}",
        f"Model(np.ones(2)), {X}",
        numbers=True,
    ),
    "a property that tells when it is set": row(
        """
        class Model:
            def __init__(self, w):
                self._w = w

            @property
            def w(self):
                return self._w * 2

            @w.setter
            def w(self, value):
                print("set")
                self._w = value / 2

        def f(one, x):
            for i in range(len(x)):
                if x[i] > 3:
                    one.w = one.w + x[i]
            return one.w
        """,
        f"Model(1.0), {X}",
        refused_when_run="NP2TF520",
    ),
    "an object whose making does more": row(
        """
        MADE = []

        class Model:
            def __init__(self, w):
                self.w = w
                MADE.append(1)

        def f(x):
            one = Model(x)
            for i in range(len(x)):
                one.w = one.w + x[i]
            return one.w, len(MADE)
        """,
        X,
        X,
        refused="NP2TF401",
    ),
    "an object made with a loop": row(
        """
        class Model:
            def __init__(self, x):
                self.w = 0.0
                for v in x:
                    self.w = self.w + v

        def f(x):
            one = Model(x)
            for i in range(len(x)):
                one.w = one.w + x[i]
            return one.w
        """,
        X,
        refused="NP2TF401",
    ),
    "an object made with checks": row(
        """
        class Model:
            def __init__(self, x, n=3):
                if n < 1:
                    raise ValueError("n")
                self.w = np.zeros(n)
                self.x = x

        def f(x):
            one = Model(x, 2)
            for i in range(len(x)):
                one.w = one.w + x[i]
                one.x[0] = 5.0
            return one.w
        """,
        X,
    ),
    "independent rounds of which each writes an attribute": _row(
        """
        def count(state, v):
            state.total = state.total + v
            return state.total

        def f(state, x):
            out = np.zeros(len(x))
            for i in range(len(x)):
                out[i] = count(state, x[i])
            return out
        """,
        f"{S}, {X}",
        numbers=True,
    ),
    "two buffers that change places": _row(
        """
        def f(state, x):
            state.old, state.new = x, np.zeros(len(x))
            for i in range(11):
                state.new[1:-1] = 0.5 * (state.old[2:] + state.old[:-2])
                state.old, state.new = state.new, state.old
            state.old[0] = 9.0
            return state.old + 0
        """,
        f"{S}, {X} * 2",
    ),
    "an inner function that writes": _row(
        """
        def f(state, x):
            def bump(v):
                state.total = state.total + v
                if v > 5:
                    state.flag += 1
                return state.total

            last = 0.0
            for v in x:
                last = last * 0.5 + bump(v)
            return last
        """,
        f"{S}, {X}",
        numbers=True,
    ),
    "a helper that writes": _row(
        """
        def push(state, v, k=1.0):
            if v > 5:
                state.pos = state.pos + k
                return 0.0
            state.total += v
            return v

        def f(state, x):
            got = 0.0
            for i in range(len(x)):
                got += push(state.child, x[i])
                if got > 9:
                    got -= push(state, got, k=x[1])
            return got
        """,
        f"linked({S}, {T}), {X}",
        numbers=True,
    ),
    "a chain of objects": _row(
        """
        def f(state, x):
            node = state
            while node is not None:
                for i in range(len(x)):
                    if x[i] > node.total:
                        node.total = node.total + x[i]
                node.pos = node.pos * 0.5
                node = node.child
            return state.total + x
        """,
        f"linked({S}, {T}, {S}), {X}",
        numbers=True,
    ),
    "a world of objects": _row(
        """
        def f(world, x):
            for k, (p, v) in enumerate(zip(world.history, x)):
                p.pos[k] += v
                while p.total < 9:
                    p.total = p.total + v + 1
                    p.flag += 1
            world.total = sum(p.flag for p in world.history)
            return x * 2
        """,
        f"holding({S}, {T}, {S}), {X}",
        f"holding(*[{T}] * 2), {X}",
        numbers=True,
    ),
    "a return behind a write": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                state.total = state.total + x[i]
                if state.total > 20:
                    state.flag = i
                    return state.total
            state.flag = -1
            return state.total * 0.5
        """,
        f"{S}, {X}",
        f"{S}, {X} * 0.01",
        numbers=True,
    ),
    "an attribute that grows": _row(
        """
        def f(state, x):
            for i in range(len(x)):
                state.pos = np.append(state.pos, x[i])
            return state.pos * 2
        """,
        f"{S}, {X}",
    ),
    "objects in a dict": _row(
        """
        def f(table, x):
            for i in range(len(x)):
                table["a"].total = table["a"].total + x[i]
                if x[i] > 3:
                    table["b"].pos = table["b"].pos + table["a"].total
            return table["b"].pos * 2
        """,
        f"dict(a={S}, b={T}), {X}",
        numbers=True,
    ),
}

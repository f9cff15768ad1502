"""Random packages of three modules as text: functions, class hierarchies, callables as values, effects.

Functions call only functions written before them, and loops carry small values, so that every program ends
and no number grows. Tests compare with numbers that no value is close to.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from textwrap import indent

from tests.helpers.project_parts import (
    ARRAYS,
    BASE_HEAD,
    BETWEEN,
    EFFECTS,
    LAST,
    MAIN_HEAD,
    MODELS_HEAD,
    NUMBERS,
    OWN_EFFECTS,
    TESTS,
)


@dataclass
class Project:
    """A package `pk`, whose `pk.main.main()` is to be called several times."""

    sources: dict[str, str]


@dataclass
class _Names:
    """The names that a block of statements may use."""

    arrays: list[str]
    numbers: list[str]
    callees: list[str]
    method: bool = False
    own: list[str] = field(default_factory=list)
    loops: int = 1

    def inner(self) -> _Names:
        return _Names([*self.arrays], [*self.numbers], self.callees, self.method, self.own, self.loops)


class _Maker:
    """One project while it is made."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.words = 0
        #: the share of effects besides computing
        self.loud = self.chance.choice((0.0, 0.15, 0.25, 0.35))
        # An effect that no graph can have keeps its callers on the host, so a program has few kinds of
        # effects.
        self.effects = self.chance.sample(EFFECTS, 4)
        self.own_effects = self.chance.sample(OWN_EFFECTS, 4)
        #: effects that prevent staging, in half of the programs
        self.hard = self.chance.random() < 0.4

    def word(self) -> str:
        self.words += 1
        return f"m{self.words}"

    def odd(self) -> str:
        return f"{self.chance.choice((-1, 0, 0, 0, 1))}.{self.chance.choice((1, 3, 5, 7))}37"

    def fill(self, template: str, names: _Names) -> str:
        pick = self.chance.choice
        number = pick(names.numbers) if names.numbers else str(pick((0.25, 0.5)))
        a, b = pick(names.arrays), pick(names.arrays)
        c, k, odd = pick((0.25, 0.7, 0.9)), pick((0, 1, 2, -1)), self.odd()
        word = self.word() if "{m}" in template else ""
        return template.format(a=a, b=b, s=number, c=c, k=k, odd=odd, m=word)

    def array(self, names: _Names) -> str:
        if names.callees and self.chance.random() < 0.45:
            return self.chance.choice(names.callees).format(a=self.chance.choice(names.arrays))
        return self.fill(self.chance.choice(ARRAYS), names)

    def block(self, names: _Names, length: int, depth: int) -> str:
        return "".join(self.statement(names, depth) for _ in range(length))

    def statement(self, names: _Names, depth: int) -> str:
        chance, draw = self.chance, self.chance.random()
        if draw < self.loud:
            effects = (*self.effects, *self.own_effects) if names.method else self.effects
            told = self.fill(chance.choice(effects), names)
            if chance.random() < 0.15 and "rounds" in names.own:
                return f"if rounds % 2 == 0:\n    {told}\n"
            return told + "\n"
        kind = chance.random()
        if depth and kind < 0.15:
            test = self.fill(chance.choice(TESTS), names)
            text = f"if {test}:\n" + indent(
                self.block(names.inner(), chance.randint(1, 2), depth - 1), "    "
            )
            if chance.random() < 0.5:
                text += "else:\n" + indent(self.block(names.inner(), 1, depth - 1), "    ")
            return text
        if depth and names.loops and kind < 0.35:
            names.loops -= 1
            return self.loop(names, depth)
        if depth and kind < 0.39:
            return f"if {self.fill(chance.choice(TESTS), names)}:\n    return {self.array(names)}\n"
        if depth and kind < 0.43:
            test = self.fill(chance.choice(TESTS), names)
            return f'if {test}:\n    raise ValueError("{self.word()}")\n'
        if depth and self.hard and kind < 0.48:
            name, given = chance.choice(names.arrays), self.array(names)
            return (
                f"try:\n    {name} = checked({given}, {self.odd()})\nexcept ValueError as error:\n"
                f"    {name} = {name} * 0.25\n" + chance.choice(("", "    print('caught', error)\n"))
            )
        if kind < 0.55:
            target = chance.choice(names.arrays)
            number = self.fill(chance.choice(NUMBERS), names)
            written = (f"{target}[{{k}}] = {number}", f"{target}[1:] *= {{c}}", f"{target} += {number}")
            return self.fill(chance.choice(written), names) + "\n"
        if kind < 0.7:
            number = self.fill(chance.choice(NUMBERS), names)
            name = chance.choice(("s", "t"))
            if name not in names.numbers:
                names.numbers.append(name)
            return f"{name} = {number}\n"
        value = self.array(names)
        name = chance.choice((*names.arrays, f"v{len(names.arrays)}")) if chance.random() < 0.8 else "x"
        if name not in names.arrays:
            names.arrays.append(name)
        return f"{name} = {value}\n"

    def loop(self, names: _Names, depth: int) -> str:
        chance, inner = self.chance, names.inner()
        inner.loops = 0
        kind = chance.random()
        if kind < 0.45:
            count = chance.choice(("3", "3", "4", "len(x)", "n" if "n" in names.own else "5", "70"))
            inner.own.append("rounds")
            head = f"for rounds in range({count}):\n"
            body = self.block(inner, chance.randint(1, 3), 1) + f"x = np.tanh({self.array(inner)})\n"
            names.own[:] = [name for name in names.own if name != "rounds"]
        elif kind < 0.65:
            head = "for i in range(len(x)):\n"
            body = chance.choice(
                ("x[i] = x[i] * 0.5 + x[i - 1] * 0.25\n", "x[i] = np.tanh(x[i] + {s})\n", "x[i] *= {c}\n")
            )
            body = self.fill(body, names) + (self.statement(inner, 0) if chance.random() < 0.5 else "")
        elif kind < 0.8:
            names.numbers.append("total")
            head = "total = 0.0\n" + self.fill("for v in {a}:\n", names)
            body = "total = total + v * 0.1\n" + (self.statement(inner, 0) if chance.random() < 0.5 else "")
        else:
            head = "left = 4\nwhile left > 0 and x[0] < 7.37:\n"
            body = "left -= 1\n" + self.block(inner, 1, 0) + f"x = np.tanh({self.array(inner)})\n"
        return head + indent(body, "    ")

    # -- definitions ----------------------------------------------------------------------------------------

    def function(self, name: str, callees: list[str], params: str = "x", decorated: bool = True) -> str:
        names = _Names(["x"], [], callees)
        if "op" in params:
            names.callees = [*callees, "op({a})", "op({a})"]
        if "n=" in params:
            names.own.append("n")
        if "keep=" in params:
            names.own.append("keep")
        body = self.block(names, self.chance.randint(2, 4), 2)
        if "keep=" in params:
            body += "keep.append(len(keep))\n"
        if self.chance.random() < 0.3:
            body = f"y = x * RATE\n{body}"
        last = self.chance.choice(("x", self.array(names)))
        above = ""
        if decorated and self.chance.random() < 0.3:
            above = (
                f"@{self.chance.choice(('wrapping', 'logged', 'counting' if self.hard else 'wrapping'))}\n"
            )
        return f"\n\n{above}def {name}({params}):\n" + indent(f"{body}return {last}\n", "    ")

    def method(self, name: str, callees: list[str], params: str = "self, x") -> str:
        names = _Names(
            ["x", "self.state"], ["self.gain", "self.scale", "self.strength"], callees, method=True
        )
        body = self.block(names, self.chance.randint(1, 3), 1)
        # An object's own state is not written through another name.
        last = self.array(names)
        return indent(f"\ndef {name}({params}):\n" + indent(f"{body}return {last} * 0.9\n", "    "), "    ")

    def project(self) -> Project:
        chance = self.chance
        base = BASE_HEAD
        functions: list[str] = []
        for k in range(chance.randint(2, 3)):
            base += self.function(f"b{k}", [f"{function}({{a}})" for function in functions], self.params())
            functions.append(f"b{k}")
        base += self.stage(functions)
        star = chance.random() < 0.3
        shared = [
            "Stage",
            "Pair",
            "Span",
            "LOG",
            "TOTALS",
            "BUFFER",
            "Scope",
            "SCOPE",
            "RATE",
            "wrapping",
            "counting",
            "logged",
            "checked",
        ]
        imports = (
            "from .base import *\n" if star else f"from .base import {', '.join([*shared, *functions])}\n"
        )
        models = MODELS_HEAD.format(imports=imports)
        from_base = [f"{function}({{a}})" for function in functions] + [
            f"base.{function}({{a}})" for function in functions
        ]
        more = []
        for k in range(chance.randint(1, 3)):
            models += self.function(
                f"m{k}",
                chance.sample(from_base, 2) + [f"{function}({{a}})" for function in more],
                self.params(),
            )
            more.append(f"m{k}")
        models += self.derived(chance.sample(from_base, 2) + [f"{function}({{a}})" for function in more])
        again = chance.random() < 0.3
        init = (
            f"from .base import {', '.join(functions)}\nfrom .models import {', '.join(more)}\n"
            if again
            else ""
        )
        origin = "." if again else ".base"
        imports = "from .base import Pair, Scope, SCOPE, Span, LOG, TOTALS, BUFFER, RATE\n"
        imports += "from .base import wrapping, counting, logged, checked\n"
        imports += f"from {origin} import {', '.join(functions)}\n"
        imports += f"from .models import {', '.join(more)}, Damped, Kicked\n"
        main = MAIN_HEAD.format(imports=imports)
        main += self.main(functions, more)
        return Project({"__init__.py": init, "base.py": base, "models.py": models, "main.py": main})

    def params(self) -> str:
        return self.chance.choice(("x", "x", "x", "x, n=3", "x, keep=[]" if self.hard else "x, *, n=4"))

    def stage(self, functions: list[str]) -> str:
        chance = self.chance
        callees = [f"{function}({{a}})" for function in functions] + ["self.inner({a})"]
        text = "\n\nclass Stage(ABC):\n    scale = 0.5\n    made = 0\n\n"
        text += "    def __init__(self, gain, inner):\n"
        body = (
            "self.gain = gain\nself.inner = inner\nself.count = 0\nself.history = []\nself.stats = {}\n"
            "self.state = np.arange(6.0) * 0.1\nself.last = None\nself.log = logger\n"
        )
        text += indent(body + chance.choice(("", "self.scale = gain * 0.5\n")), "        ")
        text += "\n    @abstractmethod\n    def step(self, x):\n        ...\n"
        text += "\n    @property\n    def strength(self):\n"
        text += chance.choice(("", "        LOG.append('strength')\n")) if self.loud else ""
        text += "        return self.gain * self.scale\n"
        text += self.method("helper", callees)
        text += self.method("__call__", ["self.step({a})", "self.helper({a})"])
        text += "\n    def __add__(self, other):\n"
        text += "        return type(self)(self.gain + other.gain * 0.5, other.inner)\n"
        text += "\n    def run(self, x, n):\n"
        names = _Names(
            ["x"], ["self.gain"], ["self.step({a})", "self.helper({a})"], method=True, own=["rounds"], loops=0
        )
        loop = self.block(names, chance.randint(0, 2), 1) + "x = self.step(x) * 0.5\n"
        text += indent("for rounds in range(n):\n" + indent(loop, "    ") + "return x\n", "        ")
        return text

    def derived(self, callees: list[str]) -> str:
        chance = self.chance
        text = "\n\nclass Damped(Stage):\n" + chance.choice(("", "    scale = 0.25\n"))
        text += self.method("step", [*callees, "self.helper({a})", "self.inner({a})"])
        text += "\n\nclass Kicked(Damped):\n" + chance.choice(("", "    made = 10\n"))
        if chance.random() < 0.5:
            text += (
                "\n    def __init__(self, gain, inner, kick=0.1):\n        super().__init__(gain, inner)\n"
                "        self.kick = kick\n"
            )
        text += self.method("step", [*callees, "super().step({a})", "super().step({a})"])
        if chance.random() < 0.6:
            text += self.method("helper", ["super().helper({a})", *callees])
        if chance.random() < 0.3:
            effect = "        self.count += 1\n" if self.loud and chance.random() < 0.5 else ""
            text += f"\n    @property\n    def strength(self):\n{effect}        return self.gain * 0.1\n"
        return text

    def main(self, functions: list[str], more: list[str]) -> str:
        chance = self.chance
        pick = chance.choice
        all_functions = [*functions, *more]
        text = "\n\ndef another(self, x):\n    return x * self.gain + self.state * 0.1\n"
        text += "\n\ndef captured(weights, factor):\n    calls = 0\n\n    def inner(v):\n"
        if self.loud and chance.random() < 0.3:
            text += "        nonlocal calls\n        calls += 1\n"
        text += "        return np.tanh(v * weights) * factor + calls\n\n    return inner\n"
        text += "\n\nclosure = captured(np.linspace(0.0, 1.0, 6), 0.5)\n"
        text += "quiet = functools.partial(np.multiply, 0.5)\n"
        text += f"shifted = lambda v: v + {pick(('0.25', 'RATE', 'base.RATE'))}\n"
        inner = pick(("np.sin", "closure", "quiet", "first"))
        text += f"first = Damped(0.5, {pick(all_functions)})\nsecond = Kicked(0.75, {inner})\n"
        text += "third = first + second\n" if chance.random() < 0.4 else "third = Kicked(0.3, shifted)\n"
        ops = [
            "np.sin",
            "np.tanh",
            "closure",
            "quiet",
            "shifted",
            "first.step",
            "second",
            "third.helper",
            *all_functions,
        ]
        table = chance.sample(ops, 3)
        text += f'TABLE = {{"a": {table[0]}, "b": {table[1]}, "c": {table[2]}}}\n'
        drivers = []
        for k in range(chance.randint(2, 3)):
            kind = pick(("op", "op", "table", "model", "model", "plain", "pair"))
            if kind == "op":
                text += self.function(f"d{k}", [f"{pick(all_functions)}({{a}})"], "x, op")
                drivers.append(f"d{k}(x, {{op}})")
            elif kind == "table":
                callees = ["TABLE[name]({a})", "TABLE[name]({a})", f"{pick(all_functions)}({{a}})"]
                text += self.function(f"d{k}", callees, "x, name")
                drivers.append(f'd{k}(x, "abc"[CALLS % 3])')
            elif kind == "model":
                callees = ["model.step({a})", "model({a})", "model.run({a}, 3)", "model.inner({a})"]
                text += self.function(f"d{k}", callees, "x, model")
                drivers.append(f"d{k}(x, {pick(('first', 'second', 'third'))})")
            elif kind == "pair":
                callees = ["Pair({a}).total()", "(Pair({a}) + Pair({a}, 0.5)).a", "Span({a}[0], {a}).width()"]
                text += self.function(f"d{k}", [*callees, f"{pick(all_functions)}({{a}})"])
                drivers.append(f"d{k}(x)")
            else:
                text += self.function(
                    f"d{k}", [f"{function}({{a}})" for function in chance.sample(all_functions, 2)]
                )
                drivers.append(f"d{k}(x)")
        drivers.append(pick(LAST))
        new = pick(ops[:5])
        between = [
            line.format(op=new, own=pick(all_functions), base=pick(functions), model=pick(more))
            for line in BETWEEN
        ]
        body = "global CALLS\nCALLS += 1\nx = np.arange(6.0) * 0.3 - 0.1 * CALLS\ndone = []\n"
        for driver in drivers:
            call = driver.format(
                op=f"[{', '.join(chance.sample(ops, 2))}][CALLS % 2]" if chance.random() < 0.5 else pick(ops)
            )
            body += (
                f"try:\n    done.append({call})\nexcept ValueError as error:\n    done.append(str(error))\n"
            )
            if chance.random() < 0.6:
                body += f"{pick(between)}\n"
            if chance.random() < 0.7:
                body += f"x = np.arange(6.0) * {pick(('0.2', '0.1'))} + 0.05 * CALLS\n"
        text += "\n\ndef main():\n" + indent(body + "done.append(x)\nreturn done\n", "    ")
        return text


def project(seed: int) -> Project:
    """Return the package of a seed."""
    return _Maker(seed).project()

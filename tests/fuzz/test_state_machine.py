"""Random programs of views, reads and in-place writes: NumPy's arrays and their twins stay equal.

``pytest tests/fuzz/test_state_machine.py --steps 20000`` runs as many; without the option a few hundred.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.helpers.machine_compiled import compare_compiled
from tests.helpers.machine_counterparts import (
    difference,
    is_out_of_range,
    numpy_player,
    players,
    same_error,
    sharing_difference,
)
from tests.helpers.machine_keys import Literals, integer
from tests.helpers.machine_steps import a_read, a_view, a_write

SHAPES = ((4,), (3, 4), (2, 3, 2), (3, 3), (1, 3), (0, 2), (5,), (), (2, 2, 2))
DTYPES = (
    "float64",
    "int64",
    "float64",
    "complex128",
    "int32",
    "float32",
    "bool",
    "int8",
    "complex64",
    "uint8",
)
#: So many arrays live at a time.
LIVE = 7
STEPS_PER_PROGRAM = 40


class Eager(RuleBasedStateMachine):
    """Every statement is run by NumPy, by tensors and by arrays on the host, and everything is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = numpy_player()
        self.twins = players()
        self.names: list[str] = []
        self.literals = Literals()

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        """Two arrays."""
        draw = data.draw
        for name in ("x0", "x1"):
            shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
            values = np.arange(int(np.prod(shape))) * integer(draw, 1, 3) % 7
            self.give(name, values.reshape(shape).astype(dtype))
            self.names.append(name)

    @rule(data=st.data(), slot=st.integers(0, LIVE - 1))
    def view(self, data: Any, slot: int) -> None:
        """Make a view."""
        self.bind(f"x{slot}", a_view(data.draw, self.live(), self.literals))

    @rule(data=st.data(), slot=st.integers(0, LIVE - 1))
    def read(self, data: Any, slot: int) -> None:
        """Read by a key of any form."""
        self.bind("r", a_read(data.draw, self.live(), self.literals))
        if slot and isinstance(self.judge.space.get("r"), np.ndarray):
            # Of its own memory order: that of a result is not modelled (NumPy's may be any).
            self.bind(f"x{slot}", "r.copy()")

    @rule(data=st.data())
    def write(self, data: Any) -> None:
        """Write in place."""
        self.step(a_write(data.draw, self.live(), self.literals))

    @rule(data=st.data())
    def write_again(self, data: Any) -> None:
        """Writing is most of what can go wrong."""
        self.step(a_write(data.draw, self.live(), self.literals))

    # -- what the rules are made of ----------------------------------------------------------------

    def give(self, name: str, array: np.ndarray) -> None:
        note(f"{name} = np.array({array.tolist()}, '{array.dtype}').reshape({array.shape})")
        for player in (self.judge, *self.twins.values()):
            player.give(name, array)

    def live(self) -> dict[str, np.ndarray]:
        held = {name: self.judge.space[name] for name in self.names}
        return {name: array for name, array in held.items() if isinstance(array, np.ndarray)}

    def bind(self, name: str, expression: str) -> None:
        """Bind a name to an expression; a name that holds no array afterwards is no live name."""
        if not self.step(f"{name} = {expression}"):
            return
        if isinstance(self.judge.space[name], np.ndarray):
            if name not in self.names:
                self.names.append(name)
            for mode, twin in self.twins.items():
                found = sharing_difference(self.judge, twin, name, self.names)
                assert found is None, f"{mode}: {found}"
        if name in self.names and (name == "r" or not isinstance(self.judge.space[name], np.ndarray)):
            self.names.remove(name)
            if not self.names:
                self.give("x0", np.arange(4.0))
                self.names.append("x0")

    def step(self, statement: str) -> bool:
        """Run one statement everywhere; whether NumPy has taken it."""
        for name, array in self.literals.arrays.items():
            if name not in self.judge.space:
                self.give(name, array)
        note(statement)
        error = self.judge.run(statement)
        for mode, twin in self.twins.items():
            found = twin.run(statement)
            assert same_error(error, found), f"{mode}: {error!r} on NumPy, {found!r} on its twin: {statement}"
            names = [*self.names, *(["r"] if statement.startswith("r = ") and error is None else [])]
            wrong = difference(self.judge, twin, names)
            assert wrong is None, f"{mode}, {statement}: {wrong}"
        if error is None:
            self.note_taken(statement)
        for name, array in self.live().items():
            if is_out_of_range(array):
                self.step(f"np.copyto({name}, np.arange(np.size({name})).reshape(np.shape({name})) % 5)")
        return error is None

    def note_taken(self, statement: str) -> None:
        """Note a statement that NumPy has taken, before the next statement runs."""


def profile(steps: int, per_program: int = STEPS_PER_PROGRAM) -> settings:
    """Return settings for so many steps in all. A long run shows the first difference as found: its program
    is short enough, and the search for a shorter program takes longer.
    """
    is_long = steps >= 5000
    return settings(
        phases=[Phase.generate] if is_long else list(Phase),
        max_examples=max(steps // per_program, 1),
        stateful_step_count=per_program,
        deadline=None,
        derandomize=not is_long,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.slow
def test_eager(steps: int) -> None:
    """One operation at a time."""
    run_state_machine_as_test(Eager, settings=profile(steps))


@pytest.fixture(scope="module")
def steps(request: pytest.FixtureRequest) -> int:
    """How many steps are asked for."""
    return int(request.config.getoption("--steps"))


class Jitted(Eager):
    """The statements that NumPy takes are one function afterwards, which is compiled and then compared."""

    #: How the programs have run: "compiled", "graph", "host".
    ran: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.twins = {}
        self.given: dict[str, np.ndarray] = {}
        self.lines: list[str] = []
        self.results = 0

    def give(self, name: str, array: np.ndarray) -> None:
        """An argument of the function; a fresh array in its middle is a line of it."""
        super().give(name, array)
        if name in self.names:
            self.lines.append(f"{name} = np.arange(4.0)")
        else:
            self.given[name] = array

    def note_taken(self, statement: str) -> None:
        """Make the statement a line of the function, and a value that it reads a result."""
        self.lines.append(statement)
        if statement.startswith("r = "):
            self.lines.append(f"r{self.results} = r")
            self.judge.space[f"r{self.results}"] = self.judge.space["r"]
            self.results += 1

    def teardown(self) -> None:
        """Compile the program as one XLA program, if it can be, and as a graph."""
        names = [*self.given, *[f"r{k}" for k in range(self.results)], *self.names]
        for xla in (True, False):
            found = compare_compiled(self.given, self.lines, names, xla)
            self.ran[found.ran] += 1
            assert found.difference is None, f"{'XLA' if xla else 'graph'}: {found.difference}"


@pytest.mark.slow
def test_jitted(steps: int) -> None:
    """Straight-line programs, compiled; what cannot be compiled runs unjitted, and most must not."""
    Jitted.ran.clear()
    run_state_machine_as_test(Jitted, settings=profile(steps // 2, per_program=12))
    print(f"programs: {dict(Jitted.ran)}")
    assert Jitted.ran["compiled"] + Jitted.ran["graph"] > Jitted.ran["host"], Jitted.ran

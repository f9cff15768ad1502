"""The console that tables are printed to: as wide as the terminal, plain text where there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


def wide_console() -> Console:
    """A console for tables: where it is no terminal, wide enough for them."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def new_table(console: Console, title: str | None = None) -> Table:
    """An empty table, with a rule below its head on a terminal only."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    box = SIMPLE_HEAD if console.is_terminal else None
    return Table(title=title, title_justify="left", box=box, pad_edge=False)


def show_fitting(console: Console, tables: Iterable[Table]) -> None:
    """Print the first table that the console is wide enough for, or the last one."""
    from rich.measure import Measurement

    chosen = None
    for chosen in tables:
        if Measurement.get(console, console.options, chosen).minimum <= console.width:
            break
    if chosen is not None:
        console.print(chosen)


def number(value: float | None, form: str = "{:.3f}") -> str:
    """A number as a table has it; nothing for None."""
    return "" if value is None else form.format(value)


def ratio(value: float | None) -> str:
    """A ratio of times as a table has it."""
    return number(value, "{:.2f}×")

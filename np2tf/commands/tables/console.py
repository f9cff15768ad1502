"""The console that tables are printed to: as wide as the terminal, or plain text in files and pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


def wide_console() -> Console:
    """Return a console for tables; in files and pipes it is wide enough for all tables."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def new_table(console: Console, title: str | None = None) -> Table:
    """Return an empty table; it has a rule below its head on terminals only."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    options: Any = {"title": title, "title_justify": "left", "pad_edge": False}
    if console.is_terminal:
        return Table(**options, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    return Table(**options, box=None, padding=(0, 2, 0, 0))


def show_fitting(console: Console, wide: Table, narrow: Table) -> bool:
    """Print the wide table if the console is wide enough for it, else the narrow table; return whether it
    is.
    """
    from rich.measure import Measurement

    options = console.options.update(max_width=10_000)
    fits = Measurement.get(console, options, wide).maximum <= console.width
    show_table(console, wide if fits else narrow)
    return fits


def show_table(console: Console, table: Table) -> None:
    """Print a table; in files and pipes without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    say(console, "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n")))


def say(console: Console, text: str) -> None:
    """Print text as it is: wrapped at words on a terminal, and nowhere in a file or pipe."""
    console.print(text, markup=False, emoji=False, soft_wrap=not console.is_terminal)


def name_text(name: str) -> Text:
    """Return a name as a cell, in which brackets are no markup."""
    from rich.text import Text

    return Text(name)


def number(value: float | None, form: str = "{:.3f}") -> str:
    """Return a number as text for a table; an empty text for None."""
    return "" if value is None else form.format(value)


def ratio(value: float | None) -> str:
    """Return a ratio of times as text for a table."""
    return number(value, "{:.2f}×")


def quantity(number: int, name: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number} {name}{'s' * (number != 1)}"

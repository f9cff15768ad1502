"""The console that tables are printed to: as wide as the terminal, plain text where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

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

    told: Any = {"title": title, "title_justify": "left", "pad_edge": False}
    if console.is_terminal:
        return Table(**told, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    return Table(**told, box=None, padding=(0, 2, 0, 0))


def show_fitting(console: Console, wide: Table, narrow: Table) -> bool:
    """Print the wide table if the console is wide enough for it, or the narrow one; returns which."""
    from rich.measure import Measurement

    unlimited = console.options.update(max_width=10_000)
    fits = Measurement.get(console, unlimited, wide).maximum <= console.width
    show_table(console, wide if fits else narrow)
    return fits


def show_table(console: Console, table: Table) -> None:
    """Print a table; where there is no terminal, without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    say(console, "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def say(console: Console, text: str) -> None:
    """Print text as it is: wrapped at words on a terminal, and nowhere in a file or pipe."""
    console.print(text, markup=False, emoji=False, soft_wrap=not console.is_terminal)


def name_text(name: str) -> Text:
    """A name as a cell: brackets in it are no markup."""
    from rich.text import Text

    return Text(name)


def number(value: float | None, form: str = "{:.3f}") -> str:
    """A number as a table has it; nothing for None."""
    return "" if value is None else form.format(value)


def ratio(value: float | None) -> str:
    """A ratio of times as a table has it."""
    return number(value, "{:.2f}×")

"""Tables of the numbers of functions over arrays with each fate."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from np2tf.commands.tables.console import new_table, say, show_table
from np2tf.rewrites.control.fates import CALLED, HOST, PLAIN, STAGED, Fate, reasons, share

#: The maximal number of reasons in the table.
ROWS = 20


def show_summary(fates: Sequence[Fate], console: Console) -> None:
    """Print the number of functions with each fate, and why functions stay on the host."""
    table = new_table(console, "Functions that compute with arrays")
    table.add_column("what becomes of them")
    for name in ("all", "share", "with loops", "share"):
        table.add_column(name, justify="right")
    plain = sum(fate.fate == PLAIN for fate in fates)
    fates = [fate for fate in fates if fate.fate != PLAIN]
    loops = [fate for fate in fates if fate.loops]
    for fate in (STAGED, CALLED, HOST):
        table.add_row(fate, *map(str, (*share(fates, fate), *share(loops, fate))))
    table.add_row("in all", str(len(fates)), "", str(len(loops)), "")
    show_table(console, table)
    if plain:
        say(console, f"{plain} more have loops, and nothing in them shows arrays or calculates: plain Python")
    reason_table = new_table(console, "Why functions stay on the host")
    reason_table.add_column("functions", justify="right")
    reason_table.add_column("reason")
    for reason, count in reasons(fates, ROWS):
        reason_table.add_row(str(count), reason)
    if reason_table.row_count:
        show_table(console, reason_table)

"""A progress bar on a terminal, for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds after which the bar appears.
_AFTER = 2.0


class Bar:
    """Counts finished tasks, and shows the count on standard error if that is a terminal.

    Args:
        total: the number of tasks.
        is_shown: False never shows a bar.
        title: the word in front of the bar.
    """

    def __init__(self, total: int, is_shown: bool = True, title: str = "Translating") -> None:
        self._total = total
        self._title = title
        self._finished_steps = 0
        self._start_time = time.monotonic()
        self._is_shown = is_shown and sys.stderr.isatty()
        # While a bar is shown, rich replaces both streams, and before rich 14.1 neither is a terminal then.
        self._is_output_beside = sys.stdout.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()

    def make_way(self) -> None:
        """Hide the bar if other output is shown on the same terminal."""
        if self._is_output_beside:
            self.hide()

    def hide(self) -> None:
        """Remove the bar until the next task is finished, so that other output gets lines of its own."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def advance(self) -> None:
        """Count one more finished task."""
        self._finished_steps += 1
        if not self._is_shown:
            return
        if (
            self._bar is None
            and self._finished_steps < self._total
            and time.monotonic() - self._start_time > _AFTER
        ):
            self._bar = self._start()
        if self._bar is not None:
            self._bar[0].update(self._bar[1], completed=self._finished_steps)

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(self._title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task("", total=self._total, completed=self._finished_steps)


class Steps:
    """The display of the current step and its progress, on standard error if that is a terminal."""

    def __init__(self) -> None:
        # While a bar is shown, rich replaces the stream, and before rich 14.1 the substitute is no terminal.
        self._is_shown = sys.stderr.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Steps:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()

    def show(self, title: str, done_count: int, total: int | None) -> None:
        """Show a title, and how much is done of how much; None where nobody knows."""
        if not self._is_shown:
            return
        if self._bar is None:
            self._bar = self._start()
        fraction = "" if total is None else f"{done_count}/{total}"
        self._bar[0].update(
            self._bar[1], description=title, completed=done_count, total=total, shown=fraction
        )

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        title = TextColumn("{task.description}", table_column=Column(overflow="ellipsis", no_wrap=True))
        columns = (title, BarColumn(20), TextColumn("{task.fields[shown]}"), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task("", total=None, shown="")

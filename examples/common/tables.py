"""Tables of times: as text for a terminal, and as Markdown for a page."""

from __future__ import annotations

#: panel -> size -> label of a system -> seconds.
Times = dict[str, dict[str, dict[str, float]]]


def rows(sizes: dict[str, dict[str, float]]) -> list[list[str]]:
    """Return the table of one panel: a row of heads, then a row for each system, in milliseconds."""
    labels = list(dict.fromkeys(label for times in sizes.values() for label in times))
    heads = ["ms", *sizes]
    return [heads, *([label, *(_number(times.get(label)) for times in sizes.values())] for label in labels)]


def _number(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    milliseconds = seconds * 1e3
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def as_text(panel: str, sizes: dict[str, dict[str, float]]) -> str:
    """Return the table of one panel with aligned columns."""
    table = rows(sizes)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in table
    ]
    return "\n".join([panel, *lines])


def as_markdown(panel: str, sizes: dict[str, dict[str, float]]) -> str:
    """Return the table of one panel for a page."""
    head, *body = rows(sizes)
    lines = [[f"{panel}, ms", *head[1:]], ["---", *["---:"] * (len(head) - 1)], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

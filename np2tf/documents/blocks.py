"""Finds the Python in a text for people: fenced and indented blocks, and sessions with `>>>`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from np2tf.tree.python_trees import python_tree

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
#: The words by which a fence names Python: python, {python}, {.python}, {code-block} python.
_PYTHON = re.compile(r"^(?:\{code(?:-block|-cell)?\}\s+)?\{?[.\s]*(?:python3?|py3?|pycon)\b", re.IGNORECASE)
_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\. (?:(?:code-block|code|sourcecode)::[ \t]*(?:python3?|py|pycon)|testcode::.*)[ \t]*$"
)
_OPTION = re.compile(r"^[ \t]+:[\w-]+:")
_PROMPT = re.compile(r"^([ \t]*)>>>(?: |$)")
_PROMPTS = (">>> ", "... ")


@dataclass(frozen=True)
class Block:
    """Lines of a text that are Python.

    Attributes:
        first: the number of the first line, from 0.
        lines: the lines of Python, without the margin.
        margin: the text before each line; in a session, the text before the prompts.
    """

    first: int
    lines: tuple[str, ...]
    margin: str
    is_session: bool = False

    @property
    def text(self) -> str:
        """The Python of the block as one text."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def shift(self) -> int:
        """Return the number of columns by which the Python is indented in the text."""
        return len(self.margin) + 4 * self.is_session

    def replace_code(self, lines: Sequence[str], text: str) -> list[str]:
        """Return the block's lines in a text, with other Python."""
        old = lines[self.first : self.first + len(self.lines)]
        return list(old) if text == self.text else self._write_lines(text.split("\n")[:-1], old)

    def _write_lines(self, new: Sequence[str], old: Sequence[str]) -> list[str]:
        """Return the lines of the text for other Python; `old` are the present lines with their ends."""
        end = old[0][len(old[0].rstrip("\r\n")) :]
        prompts = _prompts(new) if self.is_session else [""] * len(new)
        result: list[str] = []
        for kind, start, _, first, last in SequenceMatcher(None, self.lines, new, False).get_opcodes():
            for k in range(first, last):
                line = (
                    f"{self.margin}{prompts[k]}{new[k]}" if new[k] else f"{self.margin}{prompts[k]}".rstrip()
                )
                old_line = old[start + k - first] if kind == "equal" else ""
                is_kept = old_line and (not self.is_session or old_line.startswith(line.rstrip()))
                result.append(old_line if is_kept else line + end)
        return result


def is_python(text: str) -> bool:
    """Return whether a block can be translated together with other blocks."""
    tree = python_tree(text)
    return tree is not None and not any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body
    )


def in_markdown(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks between fences that name Python."""
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        first = number
        end_fence = re.compile(rf"^[ \t]*{re.escape(fence[2])}[`~]*[ \t]*$")
        while number < len(lines) and not end_fence.match(lines[number]):
            number += 1
        if _PYTHON.match(fence[3]):
            yield from _inside(lines, first, number)
        number += 1


def in_rst(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks below directives for Python code, and sessions."""
    number = 0
    while number < len(lines):
        directive = _DIRECTIVE.match(lines[number])
        if directive is None:
            if _PROMPT.match(lines[number]):
                block = _session(lines, number, len(lines))
                yield block
                number += len(block.lines)
            else:
                number += 1
            continue
        number += 1
        while number < len(lines) and _OPTION.match(lines[number]):
            number += 1
        first = number
        while number < len(lines) and (not lines[number].strip() or _is_inside(lines[number], directive[1])):
            number += 1
        yield from _inside(lines, first, number)


def sessions(lines: Sequence[str], first: int, last: int) -> Iterator[Block]:
    """Yield the examples of sessions among lines."""
    number = first
    while number < last:
        if _PROMPT.match(lines[number]):
            block = _session(lines, number, last)
            yield block
            number += len(block.lines)
        else:
            number += 1


def _is_inside(line: str, margin: str) -> bool:
    return line.startswith(margin) and line[len(margin) :][:1] in (" ", "\t")


def _inside(lines: Sequence[str], first: int, last: int) -> Iterator[Block]:
    """Yield a block of code without the blank lines around it, or the examples of a session in its place."""
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    if first == last:
        return
    if _PROMPT.match(lines[first]):
        yield from sessions(lines, first, last)
        return
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    body = lines[first:last]
    if all(line.startswith(margin) or not line.strip() for line in body):
        yield Block(first, tuple(line[len(margin) :] for line in body), margin)


def _session(lines: Sequence[str], first: int, last: int) -> Block:
    """Return one example: a line with a prompt, and the lines that continue it."""
    match = _PROMPT.match(lines[first])
    assert match is not None
    margin = match[1]
    further = re.compile(rf"^{re.escape(margin)}\.\.\.(?: |$)")
    end = first + 1
    while end < last and further.match(lines[end]):
        end += 1
    return Block(first, tuple(line[len(margin) + 4 :] for line in lines[first:end]), margin, True)


def _prompts(lines: Sequence[str]) -> list[str]:
    """Return the prompt of each line of an example: every statement begins with a new prompt."""
    inside: set[int] = set()
    for statement in ast.parse("\n".join(lines)).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        inside.update(range(first, statement.end_lineno or first))
    return [_PROMPTS[number in inside or not line] for number, line in enumerate(lines)]

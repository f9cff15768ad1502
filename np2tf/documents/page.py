"""A page as one program: its later blocks know the names that earlier blocks bind."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from np2tf.diagnostics import Diagnostic
from np2tf.documents.blocks import Block, in_markdown, in_rst, is_python
from np2tf.options import Options
from np2tf.pipeline import translate
from np2tf.tree.safety import unsafe
from np2tf.tree.source import Source

#: The suffixes of pages.
SUFFIXES = (".md", ".markdown", ".rst")
#: A statement that marks the beginning of the next block.
_MARK = '"np2tf: block {}"'
_NUMPY = re.compile(r"^\s*(?:import|from) numpy\b", re.MULTILINE)
_BLOCK_MARK = re.compile(r'^"np2tf: block (\d+)"\n', re.MULTILINE)


class UnsafeError(Exception):
    """Raised for a damaged translation; the message gives the reason."""


@dataclass(frozen=True)
class Program:
    """Blocks as one program, and its translation.

    Attributes:
        texts: the translated Python of each block; None if the translation has other blocks.
        diagnostics: the findings, at the lines and columns of the text around the blocks.
    """

    texts: list[str] | None
    diagnostics: list[Diagnostic]


def translated_page(text: str, path: str, options: Options) -> tuple[str, list[Diagnostic]]:
    """Return a page with its blocks translated, and the findings in them; all other text stays.

    Raises:
        UnsafeError: the translation does not pass the check.
        SourceError: the blocks together cannot be parsed.
    """
    lines = text.splitlines(keepends=True)
    bare = [line.rstrip("\r\n") for line in lines]
    fenced_blocks = in_rst(bare) if path.endswith(".rst") else in_markdown(bare)
    blocks = [block for block in fenced_blocks if is_python(block.text)]
    result, diagnostics = list(lines), []
    for program in _programs(blocks):
        translation = translated_blocks(program, path, options)
        diagnostics += translation.diagnostics
        for block, new in reversed(list(zip(program, translation.texts or ()))):
            result[block.first] = "".join(block.replace_code(lines, new))
            result[block.first + 1 : block.first + len(block.lines)] = [""] * (len(block.lines) - 1)
    diagnostics.sort(key=lambda finding: (finding.line, finding.column))
    return "".join(result), diagnostics


def _programs(blocks: Sequence[Block]) -> list[list[Block]]:
    """Return the groups of blocks that are one program. A session that doctest can run alone is a group."""
    examples = [block for block in blocks if block.is_session]
    if not any(_NUMPY.search(block.text) for block in examples):
        return [list(blocks)]
    return [[block for block in blocks if not block.is_session], examples]


def translated_blocks(blocks: Sequence[Block], path: str, options: Options) -> Program:
    """Translate blocks that belong together."""
    parts = [f"{_MARK.format(number)}\n{block.text}" for number, block in enumerate(blocks)]
    firsts, line = [], 1
    for part in parts:
        firsts.append(line + 1)
        line += part.count("\n")
    source = Source.of("".join(parts), path)
    result = translate(source, options)
    diagnostics = [_move_finding(finding, blocks, firsts) for finding in result.diagnostics]
    wrong = (
        unsafe(source, result.text, result.touched_nodes, source.bytes_of(result.text))
        if result.changed
        else None
    )
    if wrong is not None:
        raise UnsafeError(wrong)
    texts = _BLOCK_MARK.split(result.text)
    is_unchanged_order = not texts[0] and [int(number) for number in texts[1::2]] == list(range(len(blocks)))
    return Program(texts[2::2] if is_unchanged_order and result.changed else None, diagnostics)


def _move_finding(finding: Diagnostic, blocks: Sequence[Block], firsts: Sequence[int]) -> Diagnostic:
    """Return a finding in the program as a finding in the text."""
    index = bisect_right(firsts, finding.line) - 1
    if index < 0:
        return finding
    block = blocks[index]
    down = block.first + 1 - firsts[index]
    end = (finding.end[0] + down, finding.end[1] + block.shift) if finding.end is not None else None
    return replace(finding, line=finding.line + down, column=finding.column + block.shift, end=end)

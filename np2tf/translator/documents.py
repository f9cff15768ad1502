"""Code in pages and docstrings: found, translated as one program, and put back."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.pipeline import translate
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import first_line, python_tree
from np2tf.translator.tree.safety import unsafe
from np2tf.translator.tree.source import Source, SourceError

# -- blocks --------------------------------------------------------------------------------------------------
# Finds the Python in a text for people: fenced and indented blocks, and sessions with `>>>`.

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
    """Lines of Python in a text, without the `margin` before lines or prompts; `first` counts from 0."""

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
        first = first_line(statement)
        inside.update(range(first, statement.end_lineno or first))
    return [_PROMPTS[number in inside or not line] for number, line in enumerate(lines)]


# -- page ----------------------------------------------------------------------------------------------------
# A page as one program: its later blocks know the names that earlier blocks bind.

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

    `texts` is None if the translation has other blocks; diagnostics are at places in the text around them.
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
    finding = replace(finding, is_fixable=False)
    if index < 0:
        return finding
    block = blocks[index]
    down = block.first + 1 - firsts[index]
    end = (finding.end[0] + down, finding.end[1] + block.shift) if finding.end is not None else None
    return replace(finding, line=finding.line + down, column=finding.column + block.shift, end=end)


# -- docstrings ----------------------------------------------------------------------------------------------
# Translates doctests in docstrings together with their module, whose names for NumPy they know.

_OWNERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def with_doctests(before: str, after: str, path: str, options: Options) -> tuple[str, list[Diagnostic]]:
    """Return a translation with its doctests translated as well, and the findings in the doctests.

    Raises:
        UnsafeError: other text than docstrings would change.
    """
    if ">>>" not in before:
        return after, []
    lines = before.splitlines(keepends=True)
    bare = [line.rstrip("\r\n") for line in lines]
    tree, new_tree = ast.parse(before), ast.parse(after)
    head, imports = _numpys(tree), _of_np2tf(new_tree)
    result, at, diagnostics = after, 0, []
    for node in _docstrings(tree):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        old = "".join(lines[first:last])
        blocks = [session for session in sessions(bare, first, last) if is_python(session.text)]
        # In other literals the value differs from the source text.
        is_plain = "\\" not in old or old.lstrip().lower().startswith(("r'", 'r"'))
        place = result.find(old, at)
        if not blocks or not is_plain or place < 0 or "numpy" not in f"{head}{old}":
            continue
        new, findings = _translate(lines, blocks, (first, last), head, imports, path, options)
        diagnostics += findings
        result = f"{result[:place]}{new}{result[place + len(old) :]}"
        at = place + len(new)
    if result != after and _without_docstrings(result) != _without_docstrings(after):
        raise UnsafeError("more than docstrings would change")
    return result, diagnostics


def _translate(
    lines: list[str],
    blocks: list[Block],
    place: tuple[int, int],
    head: str,
    known_imports: set[str],
    path: str,
    options: Options,
) -> tuple[str, list[Diagnostic]]:
    """Return the lines of a docstring with its examples translated."""
    first, last = place
    old = "".join(lines[first:last])
    imports_numpy = any("import numpy" in block.text or "from numpy" in block.text for block in blocks)
    beside = [] if imports_numpy or not known_imports else [Block(first, tuple(head.splitlines()), "")]
    try:
        program = translated_blocks([*beside, *blocks], path, options)
    except SourceError:
        return old, []
    findings = [finding for finding in program.diagnostics if not beside or finding.line > first + 1]
    if program.texts is None:
        return old, findings
    texts = program.texts[len(beside) :]
    if not all(texts) or (beside and not _of_np2tf(ast.parse(program.texts[0])) <= known_imports):
        return old, findings  # an example would be empty, or the module lacks a name that the examples need
    result, at = [], first
    for block, text in zip(blocks, texts):
        result += [*lines[at : block.first], *block.replace_code(lines, text)]
        at = block.first + len(block.lines)
    return "".join([*result, *lines[at:last]]), findings


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of a module, its classes and functions, in the order of the text."""
    docstrings = []
    for node in ast.walk(tree):
        if isinstance(node, _OWNERS) and node.body and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings.append(value)
    yield from sorted(docstrings, key=lambda node: node.lineno)


def _numpys(tree: ast.Module) -> str:
    """Return the imports of NumPy at a module's top, each on its own line."""
    imports = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            imports += [
                ast.unparse(ast.Import([alias]))
                for alias in node.names
                if alias.name.split(".")[0] == "numpy"
            ]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            imports.append(ast.unparse(node))
    return "\n".join(imports)


def _of_np2tf(tree: ast.Module) -> set[str]:
    """Return the imports of np2tf at the top of a text, as source text."""
    imports: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            imports |= {ast.unparse(alias) for alias in node.names if alias.name == "np2tf"}
        elif isinstance(node, ast.ImportFrom) and node.module == "np2tf":
            imports |= {ast.unparse(alias) for alias in node.names}
    return imports


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in _docstrings(tree):
        node.value = ""
    return ast.dump(tree)

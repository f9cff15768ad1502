"""Bytes to a libcst module and back, byte for byte: BOM, line ends, tabs and declared encodings stay."""

from __future__ import annotations

import ast
import codecs
import io
import itertools
import keyword
import tokenize
from collections.abc import Set
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.sources.python_trees import first_line, parse_quietly
from np2tf.translator.tree.blanks import parse_module
from np2tf.translator.tree.printing import cut, print_module, prints_as_remembered

#: Encodings in which every character has one spelling. In others a character may have two: 0x8790 and 0x81E0
#: of cp932 are the same character.
_ONE_TO_ONE = frozenset({"utf-8", "iso-8859-1", "ascii"})


class SourceError(Exception):
    """Raised for a file that cannot be read as Python; carries the Diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def _error(code: str, path: str, line: int, column: int, **args: str) -> SourceError:
    return SourceError(Diagnostic(code, path, line, column, tuple(args.items())))


@dataclass(frozen=True)
class Source:
    """One file: its path, its text, and the encoding of its bytes."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    program: ast.Module | None = field(default=None, repr=False, compare=False)
    """What Python's own parser makes of the text."""

    @classmethod
    def of(cls, source: str | bytes, path: str = "<string>") -> Source:
        """Read a text or a file's bytes; raise SourceError if they are not Python."""
        if isinstance(source, bytes):
            text, encoding, bom = _decode(source, path)
        else:
            bom = source.startswith("\ufeff")
            text, encoding = source[bom:], "utf-8"
        return cls(path, text, encoding, bom, _checked_syntax(text, path))

    @cached_property
    def module(self) -> cst.Module:
        """The tree. It is parsed at first use, because most files of a project have nothing to translate."""
        return _parse(self.text, self.path, self.program)

    def check_printing(self, nodes: Set[cst.CSTNode]) -> None:
        """Raise SourceError unless the tree prints the statements among `nodes` as they are in the file.

        No translation is better than a file that changes in places without an edit.
        """
        if not prints_as_remembered(self.module, nodes) and self.module.code != self.text:
            raise _error("NP2TF904", self.path, 1, 1)

    @property
    def original(self) -> str:
        """The text as it is in the file, with the BOM if the file has a BOM."""
        return ("\ufeff" if self.bom else "") + self.text

    def text_of(self, module: cst.Module) -> str:
        """Return the text of `module` as it would be in this file."""
        return ("\ufeff" if self.bom else "") + print_module(module)

    def bytes_of(self, text: str) -> bytes:
        """Return the bytes of `text` in this file's encoding."""
        body = text.removeprefix("\ufeff").encode(self.encoding)
        return codecs.BOM_UTF8 + body if self.bom else body

    def says(self, data: bytes) -> str:
        """The text that bytes of this file would hold; SourceError where they hold none."""
        text, _, bom = _decode(data, self.path)
        return ("\ufeff" if bom else "") + text


def spans(program: ast.Module) -> tuple[tuple[int, int], ...]:
    """The first and the last line of each statement at the top of a program; decorators are a part of it."""
    return tuple((first_line(node), node.end_lineno or node.lineno) for node in program.body)


def _decode(data: bytes, path: str) -> tuple[str, str, bool]:
    bom = data.startswith(codecs.BOM_UTF8)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        raise _error("NP2TF902", path, 1, 1, reason="it is UTF-16 or UTF-32, which Python does not read")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if not str(error).startswith("invalid or missing encoding declaration"):
            raise _error("NP2TF902", path, 1, 1, reason=str(error)) from None
        encoding = "utf-8"  # decoding it will fail, and tell the place
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        if "#".encode(encoding) != b"#":
            raise _error("NP2TF902", path, 1, 1, reason=f"Python does not read files in {encoding}")
        text = body.decode(encoding)
        if encoding not in _ONE_TO_ONE and text.encode(encoding) != body:
            raise _error("NP2TF904", path, 1, 1)
        return text, encoding, bom
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise _error("NP2TF902", path, line, column, reason=f"not {encoding}: {error.reason}") from None
    except (LookupError, ValueError) as error:  # rot13 and other codecs that do not encode text
        raise _error("NP2TF902", path, 1, 1, reason=str(error)) from None


def _checked_syntax(text: str, path: str) -> ast.Module:
    """Parse with Python's parser first: its messages are better, and libcst's may exhaust the C stack."""
    if "\0" in text:  # Python's message does not say where
        before = text[: text.index("\0")]
        column = len(before) - before.rfind("\n")
        raise _error("NP2TF901", path, before.count("\n") + 1, column, reason="there is a null character")
    try:
        return parse_quietly(text)
    except SyntaxError as error:
        raise _error("NP2TF901", path, error.lineno or 1, error.offset or 1, reason=error.msg) from None
    except ValueError as error:
        raise _error("NP2TF901", path, 1, 1, reason=str(error)) from None
    except (RecursionError, MemoryError):
        raise _error("NP2TF903", path, 1, 1) from None


def _parse(text: str, path: str, program: ast.Module | None) -> cst.Module:
    try:
        module = parse_module(text)
        is_cut = program is not None and bool(module.body) and cut(module, program, text)
        is_same = is_cut or print_module(module) == text
    except cst.ParserSyntaxError as error:
        reason = error.message.splitlines()[0].removeprefix("parser error: ")
        raise _error("NP2TF901", path, error.raw_line, error.raw_column + 1, reason=reason) from None
    except RecursionError:
        raise _error("NP2TF903", path, 1, 1) from None
    except (cst.CSTValidationError, TypeError) as error:
        # libcst 1.9 wants a space in `return(a if b else c)` and `return(lambda: a)`.
        line, column = _place_of_refusal(text, program or ast.parse(text))
        raise _error("NP2TF907", path, line, column, reason=_reason_of_refusal(error)) from None
    if not is_same:  # as in `check_printing`
        raise _error("NP2TF904", path, 1, 1)
    return module


def _place_of_refusal(text: str, program: ast.Module) -> tuple[int, int]:
    """Return the place of the first keyword before a bracket in the statement that libcst refuses."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for first, last in spans(program):
        statement = "\n".join(lines[first - 1 : last]) + "\n"
        try:
            cst.parse_module(statement)
        except (cst.CSTValidationError, TypeError):
            tokens = list(tokenize.generate_tokens(io.StringIO(statement).readline))
            for token, behind in itertools.pairwise(tokens):
                if keyword.iskeyword(token.string) and behind.string == "(" and token.end == behind.start:
                    return first + token.start[0] - 1, token.start[1] + 1
            return first, 1
        except cst.ParserSyntaxError:  # a part of a line is not a statement
            continue
    return 1, 1


def _reason_of_refusal(error: Exception) -> str:
    if isinstance(error, TypeError):  # libcst fails while it judges a lambda
        return "Must have at least one space before a lambda in brackets."
    return str(error)

"""Layout and names of lowered code: helpers, calls, blank lines, comments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from np2tf.translator.facts.dataflow import block
from np2tf.translator.tree.blanks import is_blank_line
from np2tf.translator.tree.line_breaks import broken
from np2tf.translator.tree.nodes import every_child, memoize, walk
from np2tf.translator.tree.templates import Statement

# -- naming --------------------------------------------------------------------------------------------------
# Names for the helpers and flags that lowering adds: short, descriptive, and different from the user's
# names.

#: purpose of a name -> the names to try, best first; if all are taken, numbered names follow.
_CHOICES = {
    "keep_going": ("keep_going", "go_on"),
    "step": ("step", "one_step"),
    "then": ("then", "if_so"),
    "otherwise": ("otherwise", "if_not"),
    "outer_then": ("if_so", "outer_then"),
    "outer_otherwise": ("if_not", "outer_otherwise"),
    "done": ("done", "finished"),
    "inner_done": ("inner_done", "inner_finished"),
    "skipped": ("skipped", "skip_rest"),
    "returned": ("returned", "has_result"),
    "result": ("result", "answer"),
    "item": ("item", "element"),
}


class Naming:
    """The names added to one function. Each purpose keeps its name, because each helper is defined just above
    its use.
    """

    def __init__(self, used_names: Collection[str]) -> None:
        self._used_names = set(used_names)
        self._name_of_purpose: dict[str, str] = {}

    def name(self, purpose: str) -> str:
        """Return the name for `purpose`, which stays the same within the function."""
        if purpose not in self._name_of_purpose:
            self._name_of_purpose[purpose] = self._fresh(purpose)
        return self._name_of_purpose[purpose]

    def _fresh(self, purpose: str) -> str:
        for choice in _CHOICES.get(purpose, (purpose,)):
            if choice not in self._used_names:
                break
        else:
            number = 2
            while f"{purpose}_{number}" in self._used_names:
                number += 1
            choice = f"{purpose}_{number}"
        self._used_names.add(choice)
        return choice

    def around(self, purposes: Sequence[str], inside: Sequence[cst.CSTNode]) -> list[str]:
        """Return names for helpers around the statements `inside`, different from the helpers in these."""
        functions = {
            part.name.value
            for statement in inside
            for part in walk(statement)
            if type(part) is cst.FunctionDef
        }
        level = 1
        while not functions.isdisjoint(names := [self.name(_of_level(name, level)) for name in purposes]):
            level += 1
        return names

    def is_taken(self, name: str) -> bool:
        """Return whether the function already uses the name."""
        return name in self._used_names

    def given_names(self) -> frozenset[str]:
        """Return the names given so far."""
        return frozenset(self._name_of_purpose.values())

    def flag(self, depth: int) -> str:
        """Return the name of the flag that ends a loop `depth` lowered loops deep."""
        return self.name(("done", "inner_done")[depth] if depth < 2 else f"done_{depth + 1}")


def _of_level(purpose: str, level: int) -> str:
    """Return the purpose of a helper around helpers of the same purpose; the innermost has level 1."""
    return purpose if level == 1 else f"outer_{purpose}" if level == 2 else f"{purpose}_{level}"


# -- layout --------------------------------------------------------------------------------------------------
# Layout of lowered code: helper functions, calls, blank lines, comments that stay with their statements.

_INDENT = "    "
_BLOCKS = frozenset({cst.FunctionDef, cst.If, cst.For, cst.While, cst.With, cst.Try, cst.SimpleStatementLine})


def line(text: str, leading_lines: Sequence[cst.EmptyLine] = ()) -> cst.SimpleStatementLine:
    """Return one simple statement from its text."""
    node = cst.parse_statement(text)
    assert type(node) is cst.SimpleStatementLine
    return node.with_changes(leading_lines=list(leading_lines))


def code(node: cst.CSTNode) -> str:
    """Return the text of a node; where a backslash continues a line, it is one line."""
    text = cst.Module([]).code_for_node(node)
    if "\\" not in text:
        return text
    whole = node.visit(_OneLine())
    assert isinstance(whole, cst.CSTNode)
    return cst.Module([]).code_for_node(whole)


class _OneLine(cst.CSTTransformer):
    """Replaces backslashes that continue a line by spaces: the text may get another indentation or line."""

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        """Return one space for a continued line."""
        return cst.SimpleWhitespace(" ") if "\\" in updated_node.value else updated_node


@memoize
def has_comment(node: cst.CSTNode) -> bool:
    """Return whether a comment stands anywhere in `node`."""
    stack = [node]
    while stack:
        for child in every_child(stack.pop()):
            kind = type(child)
            if kind is cst.Comment:
                return True
            if kind in _BLOCKS:  # asked about again when a statement around it is asked about
                if has_comment(child):
                    return True
            elif kind is not cst.SimpleWhitespace:
                stack.append(child)
    return False


def tuple_of(names: Sequence[str]) -> str:
    """Return names as a tuple expression: `()`, `(u,)`, `(u, err)`."""
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def state_of(values: Sequence[str]) -> list[str]:
    """Return the argument for a loop's state: none, `u`, or `(u, err)`."""
    return [values[0] if len(values) == 1 else tuple_of(values)] if values else []


def assignment_target(names: Sequence[str]) -> str:
    """Return the left side of the assignment of results: `u, err = `, `u = `, or nothing."""
    return f"{', '.join(names)} = " if names else ""


def blank(leading_lines: Sequence[cst.EmptyLine] = ()) -> list[cst.EmptyLine]:
    """Return leading lines that begin with a blank line."""
    lines = list(leading_lines)
    if lines and is_blank_line(lines[0]):
        return lines
    return [cst.EmptyLine(indent=False), *lines]


def comment_of(body: cst.BaseSuite) -> cst.TrailingWhitespace | None:
    """Return the comment behind a compound statement's colon, with the space before it."""
    if type(body) is cst.IndentedBlock and body.header.comment is not None:
        return body.header
    return None


def statements_of(owner: cst.CSTNode | None) -> list[Statement]:
    """Return the statements of a block, each jump on a line of its own."""
    if owner is None:
        return []
    suite = owner.body if isinstance(owner, (cst.Else, cst.If, cst.For, cst.While)) else owner
    if type(suite) is cst.SimpleStatementSuite:
        return [
            cst.SimpleStatementLine(body=[small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
            for small in suite.body
        ]
    return [part for statement in block(suite) for part in _split(statement)]  # type: ignore[arg-type]


def else_of(owner: cst.If | cst.For | cst.While) -> list[Statement]:
    """Return the statements of an `else`; an `elif` is a single statement, an `if`."""
    return [owner.orelse] if type(owner.orelse) is cst.If else statements_of(owner.orelse)


def _split(statement: Statement) -> list[Statement]:
    """Return `a = 1; break` as two lines, so that the jump is a statement of its own line."""
    if type(statement) is not cst.SimpleStatementLine or len(statement.body) < 2:
        return [statement]
    if type(statement.body[-1]) not in (cst.Break, cst.Continue, cst.Return):
        return [statement]
    smalls = [small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for small in statement.body]
    first = cst.SimpleStatementLine([smalls[0]], leading_lines=statement.leading_lines)
    middle = [cst.SimpleStatementLine([small]) for small in smalls[1:-1]]
    last = cst.SimpleStatementLine([smalls[-1]], trailing_whitespace=statement.trailing_whitespace)
    return [first, *middle, last]


def footer_of(owner: cst.CSTNode | None) -> list[cst.EmptyLine]:
    """Return the comment lines at the end of a block."""
    suite = getattr(owner, "body", None)
    return list(suite.footer) if type(suite) is cst.IndentedBlock else []


def block_of(
    statements: Sequence[Statement], header: cst.TrailingWhitespace | None = None
) -> cst.IndentedBlock:
    """Return an indented block of exactly these statements; an empty block gets `pass`."""
    indented_block = cst.IndentedBlock(body=list(statements) or [line("pass")])
    return indented_block if header is None else indented_block.with_changes(header=header)


def suite(statements: Sequence[Statement], header: cst.TrailingWhitespace | None = None) -> cst.IndentedBlock:
    """Return an indented block; an empty block gets `pass`, and a first line loses its blank lines."""
    body = list(statements) or [line("pass")]
    lines = list(getattr(body[0], "leading_lines", ()))
    while lines and is_blank_line(lines[0]):
        del lines[0]
    body[0] = body[0].with_changes(leading_lines=lines)
    return block_of(body, header)


def helper(
    name: str,
    params: Sequence[str],
    body: Sequence[Statement],
    leading_lines: Sequence[cst.EmptyLine] = (),
    header: cst.TrailingWhitespace | None = None,
    room: int | None = None,
) -> cst.FunctionDef:
    """Return a helper function with a blank line above it; a first line longer than `room` is broken."""
    # Built, because parsing a text takes four times as long.
    function = cst.FunctionDef(
        cst.Name(name),
        cst.Parameters([cst.Param(cst.Name(param)) for param in params]),
        suite(body, header),
        leading_lines=blank(leading_lines),
    )
    names = ", ".join(params)
    if room is None or not params or len(f"def {name}({names}):") <= room:
        return function
    return _with_broken_parameters(function, params, on_one_line=len(_INDENT) + len(names) <= room)


def _with_broken_parameters(
    function: cst.FunctionDef, params: Sequence[str], on_one_line: bool
) -> cst.FunctionDef:
    """Return a helper with its parameters below its name, as a formatter breaks them."""
    start, end = _line_break(_INDENT), _line_break("")
    nodes = [cst.Param(cst.Name(param)) for param in params]
    if on_one_line:
        nodes[-1] = nodes[-1].with_changes(whitespace_after_param=end)
    else:
        nodes = [node.with_changes(comma=cst.Comma(whitespace_after=start)) for node in nodes]
        nodes[-1] = nodes[-1].with_changes(comma=cst.Comma(whitespace_after=end))
    return function.with_changes(params=cst.Parameters(nodes), whitespace_before_params=start)


def _line_break(indent: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(indent))


def with_footer(function: cst.FunctionDef, footer: Sequence[cst.EmptyLine]) -> cst.FunctionDef:
    """Return a helper with comments at the end of its block."""
    return function.with_changes(body=function.body.with_changes(footer=list(footer)))


def rename_parameters(params: Sequence[str], shared_names: Sequence[str], naming: Naming) -> list[str]:
    """Return the parameters, renamed where a helper rebinds a name that inner functions see."""
    return [naming.name(f"{param}_now") if param in shared_names else param for param in params]


def rebind_parameters(params: Sequence[str], shared_names: Sequence[str], naming: Naming) -> list[Statement]:
    """Return the first lines of a helper with shared names: `nonlocal k` and `k = k_now`."""
    if not shared_names:
        return []
    shared_params = [param for param in params if param in shared_names]
    values = ", ".join(rename_parameters(shared_params, shared_names, naming))
    return [
        line(f"nonlocal {', '.join(shared_names)}"),
        *([line(f"{', '.join(shared_params)} = {values}")] if shared_params else []),
    ]


def return_statement(values: Sequence[str], footer: Sequence[cst.EmptyLine] = ()) -> list[Statement]:
    """Return the statement `return u, err`, or none without values; `footer` stands above it."""
    if not values:
        return []
    if not all(map(str.isidentifier, values)):
        return [line(f"return {', '.join(values)}", footer)]
    elements = [cst.Element(cst.Name(value)) for value in values]
    result = elements[0].value if len(values) == 1 else cst.Tuple(elements, lpar=(), rpar=())
    return [cst.SimpleStatementLine([cst.Return(result)], leading_lines=list(footer))]


def call(head: str, callee: str, arguments: Sequence[str], depth: int, width: int) -> str:
    """Return a statement's text, broken as a formatter does if it would be longer than `width`."""
    flat = f"{head}{callee}({', '.join(arguments)})"
    if len(flat) + 4 * depth <= width:
        return flat
    text = broken(line(flat), 4 * depth, width)
    if text is not None:
        return text
    texts = [_argument(argument, depth + 1, width) for argument in arguments]
    return f"{head}{callee}(\n{_indented(texts)})"


def _indented(items: Sequence[Sequence[str]]) -> str:
    """Return items, which are lists of lines, indented and with a comma behind each."""
    return "".join(f"    {line}\n" for *lines, last in items for line in (*lines, f"{last},"))


def _argument(text: str, depth: int, width: int) -> list[str]:
    """Return the lines of an argument; a tuple or list that would be too long is broken."""
    if len(text) + 1 + 4 * depth <= width or not text.startswith(("(", "[")) or "\n" in text:
        return [text]
    values = cst.parse_expression(text)
    if not isinstance(values, (cst.Tuple, cst.List)):
        return [text]
    items = [_argument(code(element.value), depth + 1, width) for element in values.elements]
    return [text[0], *_indented(items).splitlines(), text[-1]]

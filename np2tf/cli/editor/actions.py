"""What an editor offers to do at a place: quick fixes, comments that hide findings, translations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol import types
from pygls.workspace import PositionCodec

from np2tf.cli.editor.examination import Examination
from np2tf.cli.editor.protocol import Places, diagnostics, overlap
from np2tf.cli.editor.translations import (
    Translation,
    function_at,
    mended,
    suppressed,
    with_function,
    without_unused,
)
from np2tf.core.diagnostics import Diagnostic

#: The command that shows a translation in a document of its own: of a URI, for a target, at a line.
SHOW = "np2tf-show-translation"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.np2tf"
KINDS = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, FIX_ALL]
_SHOWN = {
    "np2tf": "np2tf: show what this file becomes",
    "tf": "np2tf: show what this file becomes for TensorFlow alone",
}


@dataclass(frozen=True)
class Actions:
    """The actions that are offered in a range of a document.

    Attributes:
        translation: that of the document; None if it has none.
        target: what the translation runs on.
        version: the number of the examined text, if the client can check it; edits of another text are wrong.
    """

    uri: str
    examination: Examination
    translation: Translation | None
    target: str
    codec: PositionCodec
    version: int | None = None

    def within(
        self, place: types.Range, only: list[types.CodeActionKind | str] | None
    ) -> list[types.CodeAction | types.Command]:
        """Return the actions in a range, and the commands that show a translation.

        Args:
            only: the kinds that the client asks for, each with the kinds below it; None for all kinds.
        """
        actions = [*self._fixes(place), *self._fix_all(), *self._rewrites(place)]
        if only is None:
            return [*(action for action in actions if action.kind != FIX_ALL), *self._shows(place)]
        wanted = [str(getattr(kind, "value", kind)) for kind in only]
        chosen = [action for action in actions if any(_is_below(action.kind, kind) for kind in wanted)]
        is_rewrite = any(_is_below(types.CodeActionKind.RefactorRewrite, kind) for kind in wanted)
        return [*chosen, *(self._shows(place) if is_rewrite else ())]

    def _fixes(self, place: types.Range) -> Iterator[types.CodeAction]:
        shown = diagnostics(self.examination, self.codec)
        for finding, diagnostic in zip(self.examination.findings, shown):
            if not overlap(diagnostic.range, place) or not self.examination.is_readable:
                continue
            for title, after, is_preferred in self._texts_without(finding):
                if after is not None:
                    yield types.CodeAction(
                        title,
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=is_preferred,
                        edit=self._edit_to(after),
                    )

    def _texts_without(self, finding: Diagnostic) -> Iterator[tuple[str, str | None, bool]]:
        """Yield the texts in which a finding is mended or hidden, with what makes them."""
        if finding.is_fixable:
            words = dict(finding.args)
            title = (
                f"Write {words['new']} for {words['name']}"
                if {"new", "name"} <= words.keys()
                else "Mend this"
            )
            yield f"{title} ({finding.code})", mended(self.examination, [finding]), True
        unused = without_unused(self.examination, finding)
        if unused is not None:
            yield f"Remove what hides nothing ({finding.code})", unused, True
        else:
            yield f"Hide {finding.code} in this statement", suppressed(self.examination, [finding]), False

    def _fix_all(self) -> Iterator[types.CodeAction]:
        fixable = [finding for finding in self.examination.findings if finding.is_fixable]
        after = mended(self.examination, fixable) if fixable and self.examination.is_readable else None
        if after is not None:
            title = "np2tf: mend what `np2tf check --fix` mends"
            yield types.CodeAction(title, kind=FIX_ALL, edit=self._edit_to(after))

    def _rewrites(self, place: types.Range) -> Iterator[types.CodeAction]:
        """Yield the translation of the function and of the file."""
        text = self.examination.text
        if self.translation is None or self.translation.text == text:
            return
        name = function_at(text, place.start.line + 1) if self.target == "np2tf" else ""
        function = with_function(text, self.translation.text, name) if name else None
        kind = types.CodeActionKind.RefactorRewrite
        if function is not None:
            yield types.CodeAction(f"np2tf: translate `{name}`", kind=kind, edit=self._edit_to(function))
        edit = self._edit_to(self.translation.text)
        yield types.CodeAction("np2tf: translate this file", kind=kind, edit=edit)

    def _shows(self, place: types.Range) -> Iterator[types.Command]:
        """Yield what shows the translations for both targets beside the file."""
        if self.examination.is_readable and self.examination.would_change:
            for target, title in _SHOWN.items():
                yield types.Command(title, SHOW, arguments=[self.uri, target, place.start.line + 1])

    def _edit_to(self, after: str) -> types.WorkspaceEdit:
        edits = Places(self.examination.text, self.codec).edits_to(after)
        if self.version is None:
            return types.WorkspaceEdit({self.uri: edits})
        document = types.OptionalVersionedTextDocumentIdentifier(self.uri, self.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


def _is_below(kind: types.CodeActionKind | str | None, wanted: str) -> bool:
    """Return whether a kind is the wanted kind, or one below it: `refactor.rewrite` is below `refactor`."""
    name = str(getattr(kind, "value", kind))
    return name == wanted or name.startswith(f"{wanted}.")

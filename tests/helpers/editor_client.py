"""An editor without a screen: a client of the language server, which runs as a process of its own."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.helpers.doc_pages import ROOT

T = TypeVar("T")
#: The maximal number of seconds for each answer.
PATIENCE = 120


class Client:
    """A client that has started a server, and takes what it is sent.

    Args:
        folder: the folder in which the server runs.
        abilities: what the client says that it can do.
    """

    def __init__(self, folder: Path, abilities: types.ClientCapabilities | None = None) -> None:
        self.published: queue.Queue[types.PublishDiagnosticsParams] = queue.Queue()
        self.messages: queue.Queue[types.ShowMessageParams] = queue.Queue()
        self.documents: queue.Queue[types.ShowDocumentParams] = queue.Queue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = self._wait(self._start(folder))
        parameters = types.InitializeParams(abilities or types.ClientCapabilities(), root_uri=folder.as_uri())
        self.abilities = self._wait(self.client.initialize_async(parameters)).capabilities
        self._call(self.client.initialized, types.InitializedParams())

    async def _start(self, folder: Path) -> LanguageClient:
        client = LanguageClient("a test", "1")
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda one: self.published.put(one))
        client.feature(types.WINDOW_SHOW_MESSAGE)(lambda one: self.messages.put(one))
        client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda *_: None)

        @client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(parameters: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.documents.put(parameters)
            return types.ShowDocumentResult(success=True)

        await client.start_io(sys.executable, str(ROOT / "cli.py"), "server", "--stdio", cwd=str(folder))
        return client

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def _call(self, function: Any, *arguments: Any) -> None:
        """Call a function of the client in the client's thread."""

        async def call() -> None:
            function(*arguments)

        self._wait(call())

    def close(self) -> int:
        """End the server as editors do; return its exit status."""
        self._wait(self.client.shutdown_async(None))
        self._call(self.client.exit, None)
        process = self.client._server
        assert process is not None
        status = self._wait(process.wait())
        self._wait(self.client.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        return status

    # -- documents -------------------------------------------------------------------------------------------

    def open(self, uri: str, text: str) -> list[types.Diagnostic]:
        """Open a document, and return its findings."""
        document = types.TextDocumentItem(uri, "python", 1, text)
        self._call(self.client.text_document_did_open, types.DidOpenTextDocumentParams(document))
        return self.findings_of(uri, 1)

    def change(self, uri: str, version: int, text: str) -> None:
        """Replace the text of a document."""
        document = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        parameters = types.DidChangeTextDocumentParams(document, [change])
        self._call(self.client.text_document_did_change, parameters)

    def save(self, uri: str) -> None:
        """Say that a document has been saved."""
        parameters = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._call(self.client.text_document_did_save, parameters)

    def close_document(self, uri: str) -> None:
        """Close a document."""
        parameters = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._call(self.client.text_document_did_close, parameters)

    def findings_of(self, uri: str, version: int | None) -> list[types.Diagnostic]:
        """Wait for the findings of one version of a document."""
        while True:
            published = self.published.get(timeout=PATIENCE)
            if (published.uri, published.version) == (uri, version):
                return list(published.diagnostics)

    # -- requests --------------------------------------------------------------------------------------------

    def hover(self, uri: str, line: int, character: int) -> str | None:
        """Return the text shown at a place, counted from 0."""
        parameters = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        hover = self._wait(self.client.text_document_hover_async(parameters))
        assert hover is None or isinstance(hover.contents, types.MarkupContent)
        return None if hover is None else hover.contents.value

    def hints(self, uri: str) -> dict[tuple[int, int], str]:
        """Return the hints in a document, by their places."""
        everything = types.Range(types.Position(0, 0), types.Position(10_000, 0))
        parameters = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        hints = self._wait(self.client.text_document_inlay_hint_async(parameters)) or []
        return {(hint.position.line, hint.position.character): str(hint.label) for hint in hints}

    def actions(
        self, uri: str, line: int, character: int = 0, only: list[types.CodeActionKind | str] | None = None
    ) -> dict[str, Any]:
        """Return the actions and commands that are offered at a place, by their titles."""
        position = types.Position(line, character)
        parameters = types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(position, position),
            types.CodeActionContext([], only),
        )
        actions = self._wait(self.client.text_document_code_action_async(parameters)) or []
        return {action.title: action for action in actions}

    def execute(self, command: types.Command) -> None:
        """Let the server execute a command."""
        parameters = types.ExecuteCommandParams(command.command, command.arguments)
        self._wait(self.client.workspace_execute_command_async(parameters))


def edited(text: str, action: types.CodeAction) -> str:
    """Return a text after an action's edits of its one document. Columns count UTF-16 units."""
    assert action.edit is not None
    if action.edit.document_changes is not None:
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        edits = [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
    else:
        assert action.edit.changes is not None
        (edits,) = map(list, action.edit.changes.values())
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]

    def offset(position: types.Position) -> int:
        if position.line >= len(lines):
            return len(text)
        units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
        return starts[position.line] + len(units.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda edit: -offset(edit.range.start)):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text

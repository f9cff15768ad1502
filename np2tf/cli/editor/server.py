"""The language server: `np2tf check` and `np2tf report` on the text in an editor, while it is typed."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from np2tf import __version__
from np2tf.cli.configuration import ConfigurationError, Configurations
from np2tf.cli.editor.actions import KINDS, SHOW, Actions
from np2tf.cli.editor.examination import Examination, examine
from np2tf.cli.editor.protocol import diagnostics, hover, inlay_hints
from np2tf.cli.editor.translations import Translation, function_at, line_of_function, translation_of
from np2tf.cli.files import Search
from np2tf.translator.batch.one_file import is_module

T = TypeVar("T")
#: Seconds without a key pressed after which a text is examined.
PAUSE = 0.2
#: Endings of the names of the documents that show translations.
_ENDINGS = {"np2tf": "_on_np2tf.py", "tf": "_on_tensorflow.py"}


@dataclass
class _Document:
    """An open document: what is found in its newest text, and the task that examines that.

    Attributes:
        version: the number of the text that is shown.
    """

    shown: Examination | None = None
    version: int | None = None
    last_readable: Examination | None = None
    task: asyncio.Task[None] | None = None
    translations: dict[tuple[str, str], Translation] = field(default_factory=dict)


class Server(LanguageServer):
    """A language server. One thread of its own examines texts, one after the other."""

    def __init__(self) -> None:
        super().__init__("np2tf", __version__)
        self._documents: dict[str, _Document] = {}
        self._worker = ThreadPoolExecutor(1, "np2tf")
        self._shown_errors: set[str] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    # -- examining -------------------------------------------------------------------------------------------

    def text_changed(self, uri: str, pause: float = PAUSE) -> None:
        """Examine a document after a pause, unless it changes again before."""
        document = self._documents.setdefault(uri, _Document())
        if document.task is not None:
            document.task.cancel()
        document.task = asyncio.get_running_loop().create_task(self._examine(uri, document, pause))

    def close_document(self, uri: str) -> None:
        """Forget a document."""
        document = self._documents.pop(uri, None)
        if document is not None and document.task is not None:
            document.task.cancel()
        self._publish(uri, [], None)

    async def examination_of(self, uri: str) -> Examination | None:
        """Return what is found in a document's newest text; None for a document that is not open."""
        while (document := self._documents.get(uri)) is not None:
            if document.task is None or document.task.done():
                return document.shown
            await asyncio.wait({document.task})
        return None

    async def _examine(self, uri: str, document: _Document, pause: float) -> None:
        await asyncio.sleep(pause)
        source = self.workspace.get_text_document(uri)
        path, text, version = path_of(uri), source.source, source.version
        found = await self._in_worker(lambda: examined(path, text))
        document.shown = None
        if found is None:  # the configuration cannot be used, which has been said
            return
        if found.is_readable:
            document.last_readable = found
        elif document.last_readable is not None:
            found = found.beside(document.last_readable)
        document.shown, document.version = found, version
        document.translations.clear()
        self._publish(uri, diagnostics(found, self.workspace.position_codec), version)
        abilities = self.client_capabilities.workspace
        if (
            abilities is not None
            and abilities.inlay_hint is not None
            and abilities.inlay_hint.refresh_support
        ):
            self.workspace_inlay_hint_refresh(None)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    async def _in_worker(self, work: Callable[[], T]) -> T | None:
        """Do work that takes a while in the worker; show each mistake in a configuration once."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, work)
        except ConfigurationError as error:
            if str(error) not in self._shown_errors:
                self._shown_errors.add(str(error))
                self._say(f"np2tf: {error}", types.MessageType.Error)
            return None

    def _say(self, message: str, kind: types.MessageType) -> None:
        self.window_show_message(types.ShowMessageParams(kind, message))

    # -- translating -----------------------------------------------------------------------------------------

    async def actions_at(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """Return what can be done in a range of a document."""
        uri = params.text_document.uri
        examination = await self.examination_of(uri)
        if examination is None:
            return []
        configurations = Configurations()
        found = await self._in_worker(lambda: configurations.of(path_of(uri)).target)
        translation = None
        if examination.is_readable and examination.would_change and found is not None:
            translation = await self._translation_of(uri, examination, found)
        version = self._documents[uri].version if uri in self._documents and self._knows_versions() else None
        codec = self.workspace.position_codec
        actions = Actions(uri, examination, translation, found or "np2tf", codec, version)
        return actions.within(params.range, list(params.context.only) if params.context.only else None)

    def _knows_versions(self) -> bool:
        """Return whether the client takes edits of one version of a document."""
        abilities = self.client_capabilities.workspace
        edits = abilities.workspace_edit if abilities is not None else None
        return bool(edits is not None and edits.document_changes)

    async def _translation_of(self, uri: str, examination: Examination, target: str) -> Translation | None:
        document = self._documents.get(uri)
        key = examination.text, target
        if document is None:
            return None
        if key not in document.translations:
            settings = {"target": target}
            translation = await self._in_worker(
                lambda: translation_of(examination.path, examination.text, Configurations(settings))
            )
            if translation is None:
                return None
            document.translations[key] = translation
        return document.translations[key]

    async def show_translation(self, uri: str, target: str, line: int) -> None:
        """Show the translation of a document in a document of its own, at the function around a line."""
        examination = await self.examination_of(uri)
        if examination is None:
            return
        translation = await self._translation_of(uri, examination, target)
        if translation is None:
            return
        if translation.errors:
            self._say(f"np2tf: {translation.errors[0]}", types.MessageType.Error)
            return
        if translation.text == examination.text:
            why = "".join(f"; {finding}" for finding in translation.findings[:1])
            self._say(f"np2tf: the file stays as it is{why}", types.MessageType.Info)
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="np2tf-")
        file = Path(self._folder.name) / f"{examination.path.stem}{_ENDINGS[target]}"
        file.write_text(translation.text, encoding="utf-8", errors="replace", newline="")
        start = line_of_function(translation.text, function_at(examination.text, line))
        window = self.client_capabilities.window
        if window is None or window.show_document is None:
            self._say(f"np2tf: the translation is in {file}", types.MessageType.Info)
            return
        position = types.Position(start - 1, 0)
        selection = types.Range(position, position)
        self.window_show_document(
            types.ShowDocumentParams(file.as_uri(), take_focus=True, selection=selection)
        )

    def end(self) -> None:
        """Remove the documents that showed translations."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def path_of(uri: str) -> Path:
    """Return the path of a document; of one that is no file yet, a path in the current folder."""
    if uri.startswith("file:"):
        return Path(to_fs_path(uri) or "untitled.py")
    return Path(f"{uri.rpartition(':')[2].rpartition('/')[2] or 'untitled'}.py")


def examined(path: Path, text: str) -> Examination:
    """Return what is found in a document; nothing in a file that its configuration or git excludes, and in a
    file that is no module.
    """
    configurations = Configurations()
    if not is_module(path) or Search(configurations).excludes(path):
        return Examination(path, text)
    return examine(path, text, configurations)


def new_server() -> Server:
    """Return a server that answers an editor."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(server: Server, params: types.DidOpenTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(server: Server, params: types.DidChangeTextDocumentParams) -> None:
        server.text_changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(server: Server, params: types.DidSaveTextDocumentParams) -> None:
        # Another file may have changed meanwhile, such as the configuration.
        server.text_changed(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
        server.close_document(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(server: Server, params: types.HoverParams) -> types.Hover | None:
        found = await server.examination_of(params.text_document.uri)
        codec = server.workspace.position_codec
        return None if found is None else hover(found, params.position, codec)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(KINDS))
    async def on_code_action(
        server: Server, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        return await server.actions_at(params)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def on_inlay_hint(server: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        found = await server.examination_of(params.text_document.uri)
        codec = server.workspace.position_codec
        return [] if found is None else inlay_hints(found, params.range, codec)

    @server.command(SHOW)
    async def on_show(server: Server, uri: str, target: str, line: int) -> None:
        await server.show_translation(uri, target, line)

    @server.feature(types.SHUTDOWN)
    def on_shutdown(server: Server, *params: Any) -> None:
        server.end()

    return server


def serve() -> None:
    """Answer an editor on standard input and output, until it says that it ends."""
    server = new_server()
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints must not disturb the protocol
    try:
        server.start_io(sys.stdin.buffer, output)
    finally:
        server.end()

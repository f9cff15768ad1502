"""The web server of the page: it answers this machine's browser alone, and only under a secret address.

Whoever knows the address can run programs. It is told on the terminal, other sites neither know nor learn
it, and requests that another host name or another page sends are refused.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, request
from markupsafe import Markup
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from np2tf import __version__
from np2tf.cli.configuration import TARGETS, ConfigurationError, Configurations
from np2tf.cli.editor.examination import examine
from np2tf.cli.editor.translations import translation_of
from np2tf.cli.play.programs import ProgramRun, Runner
from np2tf.cli.report.page import edits, embed_json, html_environment, lines_of, resource
from np2tf.cli.report.tables import FATES
from np2tf.core.diagnostics import Diagnostic, codes

HOST = "127.0.0.1"
#: The most bytes of a request.
_LARGEST = 1 << 20
_PACKAGE = "np2tf.cli.play"


@dataclass(frozen=True)
class Page:
    """What one page shows and may do.

    Attributes:
        path: where the text stands, or would stand: its configuration counts.
        text: the text that the page begins with.
        token: the part of the page's address that nobody can guess.
    """

    path: Path
    text: str
    runner: Runner
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)


def sample() -> str:
    """Return the program that a page begins with."""
    return resource("sample.txt", _PACKAGE)


def new_app(page: Page, hosts: Callable[[], set[str]]) -> Flask:
    """Return the application.

    Args:
        hosts: returns the names, with the port, under which this server may be called.
    """
    app = Flask(_PACKAGE, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST
    lock = threading.Lock()  # the translator works on one text at a time

    @app.before_request
    def refuse_strangers() -> None:
        # A name of another site may lead to this machine (DNS rebinding), and another site's page may send
        # requests here, whose answers it cannot read.
        if request.host not in hosts():
            abort(403)
        if request.method != "GET" and request.headers.get("Origin") != f"http://{request.host}":
            abort(403)
        given = request.path.split("/")[1]
        if not hmac.compare_digest(given.encode(), page.token.encode()):
            abort(404)

    @app.after_request
    def keep_to_this_machine(response: Response) -> Response:
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    @app.get(f"/{page.token}/")
    def show() -> Response:
        nonce = secrets.token_urlsafe(16)
        response = Response(_html(page, nonce), mimetype="text/html")
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return response

    @app.post(f"/{page.token}/examine")
    def examine_text() -> dict[str, Any]:
        text, target = _asked()
        with lock:
            return _examined(page.path, text, target)

    @app.post(f"/{page.token}/run")
    def run_both() -> dict[str, Any]:
        text, target = _asked()
        with lock:
            translation = translation_of(page.path, text, Configurations({"target": target}))
        if translation.errors:
            return {
                "verdict": "failed",
                "message": f"there is no translation: {translation.errors[0].message}",
            }
        comparison = page.runner.run_both(text, translation.text)
        if comparison is None:
            abort(409)
        runs = {"source": _told(comparison.source), "translation": _told(comparison.translation)}
        return {"verdict": comparison.verdict, "message": comparison.message, **runs}

    @app.post(f"/{page.token}/stop")
    def stop() -> dict[str, Any]:
        page.runner.stop()
        return {}

    return app


def _asked() -> tuple[str, str]:
    """Return the text and the target of a request; answer any other request with status 400."""
    values = request.get_json()
    if not isinstance(values, dict):
        abort(400)
    text, target = values.get("text"), values.get("target")
    if not isinstance(text, str) or target not in TARGETS:
        abort(400)
    return text, target


def _html(page: Page, nonce: str) -> str:
    return (
        html_environment()
        .from_string(resource("page.html.jinja", _PACKAGE))
        .render(
            nonce=nonce,
            version=__version__,
            name=page.path.name,
            limit=f"{page.runner.limit:g}",
            style=Markup(resource("colours.css") + resource("page.css", _PACKAGE)),
            script=Markup(resource("highlight.js") + resource("page.js", _PACKAGE)),
            data=embed_json({"text": page.text}),
        )
    )


def _examined(path: Path, text: str, target: str) -> dict[str, Any]:
    """Return what the page shows of a text: its translation, the findings, and the fates of functions."""
    try:
        configurations = Configurations({"target": target})
        examination = examine(path, text, configurations)
        translation = translation_of(path, text, configurations) if examination.is_readable else None
    except ConfigurationError as error:
        return {"error": str(error)}
    shown: dict[str, Any] = {"findings": [_finding(finding) for finding in examination.findings]}
    shown["fates"] = [{**asdict(fate), "kind": FATES[fate.fate]} for fate in examination.fates]
    if translation is not None and not translation.errors:
        shown["translation"] = translation.text
        shown["edits"] = edits(lines_of(text), lines_of(translation.text))
    return shown


def _finding(finding: Diagnostic) -> dict[str, Any]:
    entry = codes()[finding.code]
    return {
        "line": finding.line,
        "column": finding.column,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "why": entry.why,
        "remedy": entry.remedy,
    }


def _told(run: ProgramRun) -> dict[str, Any]:
    return {"output": run.output, "errors": run.errors, "status": run.status, "seconds": run.seconds}


class _Quiet(WSGIRequestHandler):
    """Answers requests without a line on the terminal for each."""

    def log_request(self, *of: Any) -> None:
        """Say nothing."""


def new_server(page: Page, port: int) -> BaseWSGIServer:
    """Return a server that listens on this machine alone.

    Args:
        port: the port; 0 for any that is free.

    Raises:
        OSError: the port is taken.
    """
    app = new_app(page, lambda: {f"{name}:{server.server_port}" for name in (HOST, "localhost")})
    server = make_server(HOST, port, app, threaded=True, request_handler=_Quiet)
    return server


def address_of(page: Page, server: BaseWSGIServer) -> str:
    """Return the address of the page."""
    return f"http://{HOST}:{server.server_port}/{page.token}/"

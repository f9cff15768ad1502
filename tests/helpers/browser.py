"""A browser without a screen, driven over a pipe by the DevTools protocol of Chromium."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: The maximal number of seconds for each answer.
PATIENCE = 120
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
)


def new_window(profile: Path) -> Iterator[Browser]:
    """Yield a browser, and close it; skip the test where none is installed.

    Args:
        profile: an empty folder.
    """
    program = installed_browser()
    if program is None:
        pytest.skip("no browser is installed (chromium)")
    browser = Browser(program, profile)
    yield browser
    browser.close()


def installed_browser() -> str | None:
    """Return the program of an installed browser."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a browser.

    Args:
        program: the program of the browser.
        profile: a folder of its own for the browser's files.
    """

    def __init__(self, program: str, profile: Path) -> None:
        (to_read, self._to), (self._from, to_write) = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]

        def connect() -> None:
            for end, number in zip(ends, (3, 4)):  # the protocol's numbers
                os.dup2(end, number)

        self._process = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=connect,
        )
        for end in (to_read, to_write, *ends):
            os.close(end)
        self._number = 0
        self._received = b""
        self._session: str | None = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its result."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while (message := self._receive()).get("id") != self._number:
            pass
        assert "error" not in message, message["error"]
        result: dict[str, Any] = message["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._from, 1 << 20) if ready else b""
            assert data, "the browser does not answer"
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        received: dict[str, Any] = json.loads(message)
        return received

    def show(self, page: Path | str, width: int, scheme: str = "light") -> None:
        """Load a file or an address, in a window of a width and in a colour scheme, and wait for it."""
        address = page if isinstance(page, str) else page.as_uri()
        mobile = width < 600
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": mobile}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.send("Page.navigate", url=address)
        end = time.monotonic() + PATIENCE
        protocol = address.partition("//")[0]
        while self.value("document.readyState + location.protocol") != f"complete{protocol}":
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, expression: str) -> None:
        """Click with the mouse on an element, which an expression of JavaScript names."""
        box = f"(() => {{ const one = {expression}; "
        box += "one.scrollIntoView({block: 'center', behavior: 'instant'});"
        x, y = self.value(
            box
            + " const at = one.getClientRects()[0]; return [at.x + at.width / 2, at.y + at.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, expression: str, text: str) -> None:
        """Replace the text of an input, which an expression of JavaScript names, from the keyboard."""
        self.value(f"(() => {{ const one = {expression}; one.focus(); one.select(); }})()")
        if text:
            self.send("Input.insertText", text=text)
        else:
            for kind in ("keyDown", "keyUp"):
                self.send("Input.dispatchKeyEvent", type=kind, key="Delete", windowsVirtualKeyCode=46)

    def screenshot(self, file: Path) -> None:
        """Write what the page shows, in its whole height."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

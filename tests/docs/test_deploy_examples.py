"""The examples for deployment: their commands are those of the server, and systemd accepts the unit."""

import argparse
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from antiphon.cli.serve.settings import effective_settings, server_settings
from tests.fixtures.command import parser_of
from tests.paths import ROOT

EXAMPLES = ROOT / "examples" / "deploy"
TOKEN = "t" * 40


def read(name: str) -> str:
    return (EXAMPLES / name).read_text()


def unit_command() -> list[str]:
    return shlex.split(re.search(r"^ExecStart=(.*)$", read("antiphon.service"), re.MULTILINE)[1])


def container_command() -> list[str]:
    lists = re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", read("Dockerfile"), re.MULTILINE)
    return [word for words in lists for word in json.loads(words)]


@pytest.mark.parametrize("command", [unit_command(), container_command()], ids=["systemd", "docker"])
def test_the_command_starts_a_protected_server(command, tmp_path):
    assert command[:2] == ["/opt/antiphon/bin/antiphon", "serve"]
    options = parser_of("serve").parse_args(command[2:])

    effective = effective_settings(options, {"ANTIPHON_SERVER_TOKEN": TOKEN, "HOME": str(tmp_path)})
    values = argparse.Namespace(**{name: each.value for name, each in effective.items()})
    values.store = tmp_path / "store.db"
    _, settings = server_settings(values)

    assert settings.is_secure
    assert "chat.example.org" in settings.hosts
    assert values.resume_interrupted


def test_the_image_is_built_from_files_that_exist():
    copies = re.findall(r"^COPY (?!--from)(\S+)", read("Dockerfile"), re.MULTILINE)

    assert copies == ["."]
    assert (ROOT / "constraints.txt").exists()
    assert "PIP_CONSTRAINT=/source/constraints.txt" in read("Dockerfile")
    assert "'/source[server]'" in read("Dockerfile")


def test_the_proxy_passes_frames_and_the_host():
    text = read("nginx.conf")

    assert "proxy_buffering off;" in text
    assert "proxy_set_header Host $host;" in text
    assert int(re.search(r"proxy_read_timeout (\d+)s;", text)[1]) > 15


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path):
    unit = tmp_path / "antiphon.service"
    unit.write_text(read("antiphon.service").replace("/opt/antiphon/bin/antiphon", "/bin/true"))

    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")

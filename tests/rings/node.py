"""Scripts for Node in this folder, with the clients from npm that `make rings` has installed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".rings" / "node_modules"
PATIENCE_S = 60


def run_script(name: str, *arguments: str, input: str = "") -> Any:
    """Run a script, and return the JSON that it prints; skip the test where its packages are not installed."""
    code = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return json.loads(_run(name, code, arguments, input, {}))


def run_code(code: str, **environment: str) -> str:
    """Run a text as a script with more variables in its environment, and return what it prints."""
    return _run("example.mjs", code, (), "", environment)


def _run(name: str, code: str, arguments: tuple[str, ...], input: str, environment: dict[str, str]) -> str:
    """Run a script; Node looks for packages in its folder and above, so it is read from `.rings`."""
    node = shutil.which("node")
    if node is None or not MODULES.is_dir():
        pytest.skip("needs Node and the packages of tests/rings/package.json; run `make rings`")
    copy = MODULES.parent / name
    copy.write_text(code, encoding="utf-8")
    command = [node, str(copy), *arguments]
    variables = {**os.environ, **environment}
    result = subprocess.run(command, input=input, env=variables, capture_output=True, text=True, timeout=PATIENCE_S)
    assert result.returncode == 0, result.stderr
    return result.stdout

"""Scripts for Node in this folder, with the clients from npm that `make rings` has installed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".rings" / "node_modules"
PATIENCE_S = 60


def run_script(name: str, *arguments: str, input: str = "") -> Any:
    """Run a script, and return the JSON that it prints; skip the test where its packages are not installed.

    Node looks for packages in the folder of a script and above, so the script is read from `.rings`.
    """
    node = shutil.which("node")
    if node is None or not MODULES.is_dir():
        pytest.skip("needs Node and the packages of tests/rings/package.json; run `make rings`")
    copy = MODULES.parent / name
    shutil.copyfile(Path(__file__).parent / name, copy)
    command = [node, str(copy), *arguments]
    result = subprocess.run(command, input=input, capture_output=True, text=True, timeout=PATIENCE_S)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)

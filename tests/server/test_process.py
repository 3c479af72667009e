"""Settings of Python for a process that serves; each is looked at in a process of its own."""

import json
import subprocess
import sys

from antiphon.server.process import SWITCH_S, THRESHOLDS

SHOW = """
import gc, json, sys
from antiphon.server.process import tune_process
before = len(gc.get_objects())
tune_process()
print(json.dumps([gc.get_freeze_count() >= before * 0.9, gc.get_threshold(), sys.getswitchinterval()]))
"""
SERVE = """
import os, signal, sys
from antiphon.cli.main import main
from antiphon.server import process
process.tune_process = lambda: (print("tuned", flush=True), os.kill(os.getpid(), signal.SIGTERM))
sys.exit(main(["serve", "--port", "0", "--store", sys.argv[1]]))
"""


def output(*arguments: str) -> str:
    """What a Python program prints."""
    done = subprocess.run([sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_what_is_loaded_is_left_out_of_rarer_collections() -> None:
    assert json.loads(output(SHOW)) == [True, list(THRESHOLDS), SWITCH_S]


def test_a_server_is_tuned_when_it_has_started(tmp_path) -> None:
    assert output(SERVE, str(tmp_path / "a.db")).splitlines()[-1] == "tuned"

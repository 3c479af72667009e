"""The command `antiphon doctor`: show what protects this machine from commands, and prove it by trying."""

import argparse
import json
import os
import platform
import sys
from typing import Any

from antiphon import __version__
from antiphon.cli.frame import DONE, FAILED, CliCommand, print_lines
from antiphon.cli.options import add_json, add_store
from antiphon.paths import store_path
from antiphon.providers.local.weights import SMOLLM2, models_folder, weights_problem
from antiphon.tools.sandbox.detection import Sandbox, find_sandbox
from antiphon.tools.sandbox.probes import Probe, ProbeFailed, run_probes

ADVICE = "please report this as SECURITY.md says, with the output of antiphon doctor --json"
EXAMPLES = """examples:
  antiphon doctor          show what protects this machine, and try to break out
  antiphon doctor --json   print it as JSON
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_store(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the protection of this machine; fail if something that should hold does not."""
    sandbox = find_sandbox()
    problems = list(sandbox.problems)
    probes: list[Probe] = []
    if sandbox.layers:
        try:
            probes = run_probes(os.environ)
        except ProbeFailed as error:
            problems.append(f"the sandbox cannot be tried: {error}")
    is_sound = sandbox.confines and bool(probes) and all(probe.held for probe in probes)
    record = _record(options, sandbox, problems, probes, is_sound)
    print_lines([json.dumps(record, indent=2)] if options.json else _lines(record))
    return DONE if is_sound else FAILED


def _record(
    options: argparse.Namespace, sandbox: Sandbox, problems: list[str], probes: list[Probe], is_sound: bool
) -> dict[str, Any]:
    store = options.store or store_path()
    return {
        "antiphon": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "superuser": sys.platform != "win32" and os.geteuid() == 0,
        "store": {"path": str(store), "exists": store.is_file()},
        "embeddedModel": weights_problem(SMOLLM2, models_folder()) is None,
        "sandbox": {"confines": sandbox.confines, "layers": list(sandbox.layers), "problems": problems},
        "probes": [{"name": probe.name, "attempt": probe.attempt, "held": probe.held} for probe in probes],
        "sound": is_sound,
    }


def _lines(record: dict[str, Any]) -> list[str]:
    sandbox = record["sandbox"]
    store = record["store"]
    lines = [
        f"antiphon   {record['antiphon']}, Python {record['python']}, {record['system']}",
        f"store      {store['path']}{'' if store['exists'] else ' (not created yet)'}",
        f"model      {SMOLLM2.reference} is {'installed' if record['embeddedModel'] else 'not installed'}",
        f"sandbox    {', '.join(sandbox['layers']) or 'none'}",
        f"commands   {'run unasked in the sandbox' if sandbox['confines'] else 'are asked about, every one'}",
    ]
    if record["superuser"]:
        lines.append("user       the superuser; a user of its own for agents is safer")
    lines += [f"problem    {problem}" for problem in sandbox["problems"]]
    for probe in record["probes"]:
        lines.append(f"{'held' if probe['held'] else 'BROKEN':<10} {probe['attempt']}")
    broken = [probe for probe in record["probes"] if not probe["held"]]
    if broken and sandbox["confines"]:
        lines.append(f"{len(broken)} of {len(record['probes'])} attempts worked; {ADVICE}")
    elif record["probes"] and not broken:
        lines.append(f"all {len(record['probes'])} attempts were refused")
    return lines


COMMAND = CliCommand(
    "Show what protects this machine from commands of agents, and prove it by trying.",
    add_options,
    run,
    EXAMPLES,
)

"""Dry runs: only the plan is made and printed."""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from antiphon.agents.plans import review_result
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED
from antiphon.cli.render.plain import PlainView, write
from antiphon.cli.run.client import find_result
from antiphon.cli.run.environment import RunEnvironment, open_environment
from antiphon.cli.run.flow import create_run
from antiphon.cli.run.spec import RunSpec


def dry_run(options: argparse.Namespace, store: Path, spec: RunSpec, task: str) -> int:
    """Print only the plan, as JSON; return 1 if it is uncertain."""

    async def make_plan() -> tuple[dict[str, Any], Any]:
        async with open_environment(options, store, spec) as environment:
            return await _plan(environment)

    async def _plan(environment: RunEnvironment) -> tuple[dict[str, Any], Any]:
        threads = environment.window.threads
        id = await create_run(environment, spec, dryRun=True)
        receipt = await threads.start(id, task)
        await threads.until_idle(id, receipt.seq - 1)
        result = await find_result(threads, id)
        return {"run": id, **review_result(result, list(spec.agents))}, result

    if sys.stderr.isatty() and not options.quiet:
        write(sys.stderr, "planning …\n")
    try:
        plan, result = asyncio.run(make_plan())
    except KeyboardInterrupt:
        return INTERRUPTED
    write(sys.stdout, json.dumps(plan, indent=2) + "\n")
    error = ((result or {}).get("error") or {}).get("message")
    if not plan["isSure"] and not options.quiet:
        reason = error or "; ".join(plan["warnings"]) or "the planner is not confident"
        PlainView(sys.stderr).line(f"antiphon run: the plan is uncertain (confidence {plan['confidence']}): {reason}")
    return DONE if plan["isSure"] else FAILED

"""Plans read from JSON files, in the format of `antiphon run --dry-run`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from antiphon.agents.machine.plan import plan_of, problems_with, review_plan
from antiphon.threads.errors import ThreadError

MOST_BYTES = 1_000_000


class BadPlan(ThreadError):
    """A file has no usable plan; the message says why."""


def load_plan(path: str | Path, agents: Sequence[str]) -> Mapping[str, Any]:
    """Read the plan of a JSON file for agents of these names."""
    try:
        text = Path(path).read_text("utf-8") if Path(path).stat().st_size <= MOST_BYTES else None
    except (OSError, UnicodeDecodeError) as error:
        raise BadPlan(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if text is None:
        raise BadPlan(f"{path}: is too large for a plan; at most {MOST_BYTES:,} bytes are read")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadPlan(f"{path}: is not valid JSON: {error}") from error
    content: Mapping[str, Any] = value.get("plan", value) if isinstance(value, dict) else {"steps": value}
    plan = plan_of(content)
    if plan is None:
        raise BadPlan(f'{path}: contains no plan; expected for example {{"steps": ["first", "second"]}}')
    if problems := problems_with(plan, list(agents)):
        raise BadPlan(f"{path}: {'; '.join(problems)}")
    return content


def review_result(result: Mapping[str, Any] | None, agents: Sequence[str]) -> dict[str, Any]:
    """Return the plan in the result of a dry run for agents of these names, with its warnings and confidence."""
    return dict(review_plan((result or {}).get("plan"), list(agents)))

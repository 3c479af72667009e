"""The charts that come with this package."""

import json
from importlib.resources import files
from typing import Any


def load_chart(name: str) -> dict[str, Any]:
    """The chart of a machine, as it is shared with the browser."""
    chart: dict[str, Any] = json.loads(files("antiphon.machines").joinpath(f"{name}.json").read_text("utf-8"))
    return chart

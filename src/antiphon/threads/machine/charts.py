"""Charts that lie beside the machines, as JSON files."""

import json
from importlib.resources import files
from typing import Any


def load_chart(module: str) -> dict[str, Any]:
    """Load the chart beside a machine's module, as it is shared with the browser."""
    package, _, name = module.rpartition(".")
    chart: dict[str, Any] = json.loads(files(package).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return chart

"""CPU time to build a machine from the debate chart, a chart of ordinary size."""

from __future__ import annotations

import gc
import json
import sys
from copy import deepcopy
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from antiphon import create_machine

CHART = Path(__file__).resolve().parent.parent / "debate.machine.json"


def build(config: dict[str, Any]) -> float:
    """Milliseconds for one build."""
    gc.disable()
    began = process_time()
    create_machine(config, strict=False)
    took = process_time() - began
    gc.enable()
    return took * 1000


def main(times: int) -> None:
    """The median of many builds, each from a config of its own."""
    config = json.loads(CHART.read_text())
    print(json.dumps({"ms": median(build(deepcopy(config)) for _ in range(times))}))


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Charts as the store knows them: by a hash, so that a changed one is noticed."""

import hashlib
import json
from typing import Any
from weakref import WeakKeyDictionary

from antiphon.chart.machine import Machine

# Every actor that is created or loaded asks for one, and a large chart takes half a millisecond.
_hashes: WeakKeyDictionary[Machine[Any, Any], str] = WeakKeyDictionary()


def chart_hash(machine: Machine[Any, Any]) -> str:
    """A short hash of a machine's chart, functions aside."""
    known = _hashes.get(machine)
    if known is None:
        text = json.dumps(machine.config, sort_keys=True, default=_named)
        known = _hashes[machine] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return known


def _named(value: Any) -> str:
    """Functions and built-in actions count by their names only: their code may be mended."""
    return str(getattr(value, "type", None) or getattr(value, "__name__", None) or type(value).__name__)

"""Parts of charts as texts: equal texts mean equal parts."""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.chart.explore.labels import action_labels
from antiphon.chart.nodes import Node


def state_name(node: Node) -> str:
    """Return the place of a state, as `a.b`; the root is its key."""
    return ".".join(node.path) or node.key


def action_words(specs: Any) -> str:
    """Return actions with their parameters."""
    listed = specs if isinstance(specs, list | tuple) else [specs]
    words = []
    for label, spec in zip(action_labels(specs), listed, strict=False):
        params = spec.get("params") if isinstance(spec, Mapping) else None
        words.append(label if params is None else f"{label}({value_words(params)})")
    return ", ".join(words)


def value_words(value: Any) -> str:
    """Return a value of a chart as JSON, nothing as an empty text; functions count by their names."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=_name)


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))

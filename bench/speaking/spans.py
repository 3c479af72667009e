"""Times on the way of a chunk, and what remains of them: percentiles of the debater who fares worst."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import quantiles

from antiphon.runtime.coalescing import COALESCE_MS

COALESCE_S = COALESCE_MS / 1000


def joining(since: float, opened: float, left: float) -> float:
    """How long a chunk waited for others by design: from then on, but not longer than the first of them may wait."""
    return max(0.0, min(left, opened + COALESCE_S) - since)


def percentiles(by_debater: Iterable[Sequence[float]]) -> dict[str, float]:
    """The 50th and 95th percentile of each debater's chunks; of the debaters, the highest."""
    cuts = [quantiles(values, n=100, method="inclusive") for values in by_debater]
    return {"p50": max(cut[49] for cut in cuts), "p95": max(cut[94] for cut in cuts)}

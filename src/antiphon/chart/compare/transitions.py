"""Changes of the transitions of one state: which of them are new, gone, or have become another."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from antiphon.chart.compare.words import action_words, state_name
from antiphon.chart.explore.labels import guard_label
from antiphon.chart.nodes import Node, Transition

Candidates = dict[str, list[Transition]]  # transitions of a state by the event that they are for, in words
DELAY = "after "


class TransitionChange(NamedTuple):
    """A transition that was added, removed or changed, in words."""

    kind: Literal["added", "removed", "changed"]
    text: str


class TransitionFacts(NamedTuple):
    """All that a transition does, as texts that can be compared."""

    guard: str
    actions: str
    target: str
    reenter: str


def compare_candidates(old: Candidates, new: Candidates, pairs: Mapping[Node, Node]) -> Iterator[TransitionChange]:
    """Yield the changes of the transitions of a state; `pairs` has the new state of each old one."""
    before = {event: [transition_facts(each, pairs) for each in listed] for event, listed in old.items()}
    after = {event: [transition_facts(each) for each in listed] for event, listed in new.items()}
    for event, delay in _changed_delays(before, after).items():
        yield TransitionChange("changed", f"{event}{_words(before[event][0])}: now {delay}")
        del before[event]
        del after[delay]
    for event in dict.fromkeys([*before, *after]):
        yield from _compare_event(event, before.get(event, []), after.get(event, []))


def _changed_delays(
    before: Mapping[str, list[TransitionFacts]], after: Mapping[str, list[TransitionFacts]]
) -> dict[str, str]:
    """Return delays that became others: transitions that are the same but for the time."""
    free = [event for event in after if event.startswith(DELAY) and event not in before]
    changed: dict[str, str] = {}
    for event, facts in before.items():
        same = next((delay for delay in free if after[delay] == facts), None)
        if event.startswith(DELAY) and event not in after and same is not None:
            changed[event] = same
            free.remove(same)
    return changed


def _compare_event(
    event: str, before: list[TransitionFacts], after: list[TransitionFacts]
) -> Iterator[TransitionChange]:
    removed = [facts for facts in before if facts not in after]
    added = [facts for facts in after if facts not in before]
    for facts in [*removed]:
        same = _closest(facts, added)
        if same is not None:
            removed.remove(facts)
            added.remove(same)
            yield TransitionChange("changed", f"{event}{_words(facts)}: {_difference(facts, same)}")
    yield from (TransitionChange("removed", f"{event}{_words(facts)}") for facts in removed)
    yield from (TransitionChange("added", f"{event}{_words(facts)}") for facts in added)
    same_before = [facts for facts in before if facts in after]
    if same_before != [facts for facts in after if facts in before]:
        yield TransitionChange("changed", f"{event}: its transitions are tested in another order")


def _closest(facts: TransitionFacts, candidates: list[TransitionFacts]) -> TransitionFacts | None:
    """Return the transition that has most in common with another, or None if none shares half of it."""
    alike = {candidate: sum(a == b for a, b in zip(facts, candidate, strict=True)) for candidate in candidates}
    best = max(alike, key=lambda candidate: alike[candidate], default=None)
    return None if best is None or alike[best] < len(facts) - 2 else best


def _difference(before: TransitionFacts, after: TransitionFacts) -> str:
    parts = [
        f"{name} {was or 'none'} → {becomes or 'none'}"
        for name, was, becomes in zip(TransitionFacts._fields, before, after, strict=True)
        if was != becomes
    ]
    return "; ".join(parts)


def transition_facts(transition: Transition, pairs: Mapping[Node, Node] | None = None) -> TransitionFacts:
    """Return all that a transition does; targets are named as in the new chart."""
    config = transition.config
    guard = config.get("guard")
    targets = [(pairs or {}).get(node, node) for node in transition.targets or ()]
    is_ignored = transition.is_forbidden and guard is None
    return TransitionFacts(
        "" if guard is None else guard_label(guard),
        action_words(config.get("actions")),
        "(ignored)" if is_ignored else ", ".join(map(state_name, targets)),
        "yes" if transition.reenter else "",
    )


def _words(facts: TransitionFacts) -> str:
    guard = f" [{facts.guard}]" if facts.guard else ""
    actions = f" / {facts.actions}" if facts.actions else ""
    return f"{guard}{actions} → {facts.target or 'stays'}"

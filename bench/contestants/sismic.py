"""sismic: charts in its YAML, contracts switched off, `queue` then `execute_once`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sismic.interpreter import Event, Interpreter
from sismic.io import import_from_yaml

from contestants.child import Running, serve
from contestants.machines import Event as Plain
from contestants.machines import Facts, Machine, payload

TOGGLE = """
statechart:
  name: toggle
  root state:
    name: root
    initial: 'off'
    states:
      - name: 'off'
        transitions: [{event: TOGGLE, target: 'on'}]
      - name: 'on'
        transitions: [{event: TOGGLE, target: 'off'}]
"""

CHAT = """
statechart:
  name: chat
  preamble: text = ""
  root state:
    name: root
    initial: idle
    states:
      - name: idle
        transitions: [{event: SEND, target: sending, action: text = ""}]
      - name: sending
        transitions:
          - {event: STREAM_START, target: streaming}
          - {event: ERROR, target: error}
      - name: streaming
        transitions:
          - {event: TEXT_CHUNK, action: text = text + event.text}
          - {event: STREAM_END, target: complete}
          - {event: ERROR, target: error}
      - name: complete
        transitions: [{event: RESET, target: idle}]
      - name: error
        transitions: [{event: RETRY, target: sending}]
"""

GUARDS = """
statechart:
  name: guards
  root state:
    name: root
    initial: hub
    states:
      - name: hub
        transitions:
          - {event: GO, target: b0, guard: event.v == 0}
          - {event: GO, target: b1, guard: event.v == 1}
          - {event: GO, target: b2, guard: event.v == 2}
          - {event: GO, target: b3, guard: event.v == 3}
          - {event: GO, target: b4, guard: event.v == 4}
      - {name: b0, transitions: [{event: BACK, target: hub}]}
      - {name: b1, transitions: [{event: BACK, target: hub}]}
      - {name: b2, transitions: [{event: BACK, target: hub}]}
      - {name: b3, transitions: [{event: BACK, target: hub}]}
      - {name: b4, transitions: [{event: BACK, target: hub}]}
"""

GROUP = """
              - name: {path}.{group}
                initial: {path}.{group}.x
                transitions: [{{event: G, target: {path}.{other}}}]
                states:
                  - name: {path}.{group}.x
                    on entry: count()
                    transitions: [{{event: T{n}, target: {path}.{group}.y}}]
                  - name: {path}.{group}.y
                    on entry: count()
                    transitions: [{{event: T{n}, target: {path}.{group}.x}}]
"""

REGION = """
          - name: {path}
            initial: {path}.g1
            states: {groups}
"""

REGIONS = """
statechart:
  name: regions
  root state:
    name: root
    initial: work
    states:
      - name: work
        parallel states: {regions}
"""


class Tally:
    """What the entry action of the regions counts."""

    count = 0


def count() -> None:
    """The entry action of the regions."""
    Tally.count += 1


def regions() -> str:
    """Three parallel regions of two groups of two leaves; names are unique across the chart."""
    return REGIONS.format(regions="".join(region(n) for n in (1, 2, 3)))


def region(n: int) -> str:
    """One region."""
    path = f"work.r{n}"
    pairs = (("g1", "g2"), ("g2", "g1"))
    groups = "".join(GROUP.format(path=path, group=group, other=other, n=n) for group, other in pairs)
    return REGION.format(path=path, groups=groups)


CHARTS: dict[str, Callable[[], str]] = {
    "toggle": lambda: TOGGLE,
    "chat": lambda: CHAT,
    "regions": regions,
    "guards": lambda: GUARDS,
}


def start(machine: Machine) -> Running:
    """A started interpreter; one event is one macro step."""
    Tally.count = 0
    chart = import_from_yaml(CHARTS[machine.name]())
    interpreter = Interpreter(chart, initial_context={"count": count}, ignore_contract=True)
    interpreter.execute()
    queue, step = interpreter.queue, interpreter.execute_once

    def play(events: Sequence[Event], cycles: int) -> None:
        for _ in range(cycles):
            for event in events:
                queue(event)
                step()

    def facts() -> Facts:
        leaves = tuple(sorted(chart.leaf_for(interpreter.configuration)))
        return Facts(leaves, Tally.count, len(interpreter.context.get("text", "")))

    return Running(prepare, play, facts)


def prepare(event: Plain) -> Event:
    """The library's own event object."""
    return Event(event["type"], **payload(event))


if __name__ == "__main__":
    serve(send=start)

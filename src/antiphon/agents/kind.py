"""Runs as a kind of thread."""

from antiphon.agents.export import run_document
from antiphon.agents.record import read_run, run_lines, summarize
from antiphon.threads.kinds import ThreadKind

RUN = ThreadKind(
    name="run",
    result_event="run_ended",
    summarize=summarize,
    content=read_run,
    lines=run_lines,
    document=run_document,
    to_json=lambda record: dict(record.content),
)
"""Kind of the threads that are runs of agents."""

"""Runs as a kind of thread."""

from antiphon.agents.export import run_document
from antiphon.agents.record import decisions_in, new_texts, read_run, summarize
from antiphon.threads.kinds import ThreadKind

RUN = ThreadKind(
    name="run",
    result_event="run_ended",
    summarize=summarize,
    content=read_run,
    texts=new_texts,
    decisions=decisions_in,
    document=run_document,
    to_json=lambda record: dict(record.content),
)
"""Kind of the threads that are runs of agents."""

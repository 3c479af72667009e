"""Debates as a kind of thread."""

from antiphon.debate.export import debate_document
from antiphon.debate.record import new_texts, read_debate, summarize
from antiphon.threads.kinds import ThreadKind

DEBATE = ThreadKind(
    name="debate",
    result_event="result",
    summarize=summarize,
    content=read_debate,
    texts=new_texts,
    document=debate_document,
    to_json=lambda record: dict(record.content),
)
"""Kind of the threads that are debates."""

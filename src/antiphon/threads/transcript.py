"""Transcripts: the words of a thread as its journal has them, for threads that no machine here can run.

A journal needs no machine to be read: it has the messages of people, the texts of models and the status of the thread.
Branches, plans, tool results and verdicts are parts of snapshots, so a transcript does without them.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from antiphon.runtime.records import Entry
from antiphon.threads.activity import Activity, activities
from antiphon.threads.export.document import Block, Document, Note, Strong, Turn, Words, format_time
from antiphon.threads.kinds import Json, Record, RecordForm, ThreadView
from antiphon.threads.machine.content import text_of
from antiphon.threads.machine.thread import UNTITLED
from antiphon.threads.problems import Problem

PERSON = "You"
MODEL = "Model"
TITLE_WORDS = 8
NOTE = "Read from the journal: messages and replies in the order in which they began, without branches and tools."
# Errors of reading a value that another release wrote in another form.
UNEXPECTED = (KeyError, TypeError, ValueError, AttributeError, IndexError)


def transcript(id: str, input: Any, entries: Sequence[Entry], problem: Problem, updated: int) -> Record:
    """Return the record of a thread that cannot be continued here, from its input and its journal."""
    journal = _Journal(input, entries)
    config = journal.config
    messages = [turn["text"] for turn in journal.turns if turn["speaker"] == PERSON]
    view = ThreadView(
        id=id,
        kind=journal.kind,
        status=problem.status,
        title=str(journal.title or config.get("topic") or _first_words(messages) or UNTITLED),
        model=str(config["model"]) if config.get("model") else None,
        branch="",
        turns=len(messages),
        cost_usd=journal.cost,
        updated=updated,
        archived=journal.archived,
        owner=journal.owner,
        problem=problem.text,
    )
    return Record(view, {"turns": journal.turns}, is_transcript=True)


def _first_words(messages: list[str]) -> str:
    return " ".join(" ".join(messages[:1]).split()[:TITLE_WORDS])


class _Journal:
    """Everything that the journal of a thread tells about it; steps in a form that is unknown here are left out."""

    def __init__(self, input: Any, entries: Sequence[Entry]) -> None:
        settings = input if isinstance(input, Mapping) else {}
        self.kind = str(settings.get("kind") or "")
        self.title = settings.get("title")
        self.owner = str(settings.get("owner") or "")
        self.config: Json = settings.get("config") or {}
        self.archived = False
        self.cost = 0.0
        self.turns: list[dict[str, Any]] = []
        self._replies: dict[str, dict[str, Any]] = {}  # the reply that an actor is writing, by its path
        self._agents: dict[str, str] = {}  # the names of agents by the ids of their actors
        with suppress(*UNEXPECTED):
            self._read_imported()
        for entry in entries:
            with suppress(*UNEXPECTED):
                self._read_event(entry)
                for activity in activities(entry):
                    self._read_activity(entry, activity)

    def _read_imported(self) -> None:
        """Read the messages that a chat was created with."""
        for message in (self.config.get("history") or {}).get("messages", {}).values():
            if text := text_of(message["parts"]):
                self._add(PERSON if message["role"] == "user" else MODEL, text, message.get("at"))

    def _read_event(self, entry: Entry) -> None:
        """Read what a person has done, and where a reply begins."""
        event = entry.event
        type = event["type"]
        if type == "RENAME":
            self.title = event["title"]
        elif type in ("ARCHIVE", "UNARCHIVE"):
            self.archived = type == "ARCHIVE"
        elif type == "REQUEST_STARTED":
            self._replies.pop(entry.to, None)
        elif type == "INTERJECT":
            self._add(PERSON, event["text"], entry.at)
        elif not entry.to:
            message = event.get("message") or event.get("answer") or {}
            if text := message.get("text") or text_of(message.get("parts") or ()):
                self._add(PERSON, text, entry.at)

    def _read_activity(self, entry: Entry, activity: Activity) -> None:
        """Read the words of models, the names of agents, and the cost that the thread reports with its status."""
        facts = activity.facts
        if activity.kind == "text":
            reply = self._replies.get(entry.to)
            if reply is None:
                speaker = activity.speaker or MODEL
                reply = self._replies[entry.to] = self._add(self._agents.get(speaker, speaker), "", entry.at)
            reply["text"] += facts["text"]
        elif activity.kind == "agent_started":
            self._agents = {f"agent-{number}": member["mode"] for number, member in enumerate(facts["crew"])}
        elif activity.kind == "status":
            self.cost = float(facts.get("cost") or self.cost)

    def _add(self, speaker: str, text: str, at: int | None) -> dict[str, Any]:
        turn = {"speaker": speaker, "text": text, "at": at}
        self.turns.append(turn)
        return turn


def _document(record: Record) -> Document:
    view = record.view
    facts = [("Thread", view.id), ("Kind", view.kind), ("Model", view.model or "none"), ("Status", view.status)]
    blocks: list[Block] = [Strong(view.problem)] if view.problem else []
    blocks.append(Note(NOTE))
    for turn in record.content["turns"]:
        blocks.append(Turn(turn["speaker"], [Words(turn["text"])], format_time(turn["at"])))
    return Document(view.title, facts, blocks)


def _to_json(record: Record) -> dict[str, Any]:
    view = record.view
    facts = {"thread": view.id, "kind": view.kind, "status": view.status, "problem": view.problem, "title": view.title}
    return {**facts, "note": NOTE, **record.content}


TRANSCRIPT = RecordForm(document=_document, to_json=_to_json)
"""Form of the records that were read from the journal alone."""

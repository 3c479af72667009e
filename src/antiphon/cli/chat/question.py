"""One question, its answer, and an exit code."""

import argparse
import asyncio
import sys

from antiphon.cli.chat.answer import form_answer
from antiphon.cli.chat.model import choose_chat_model
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.chat.session import chat_view, open_chat
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import ModelChoice, describe
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED, print_error, print_note
from antiphon.cli.input.lines import TerminalLines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import WaitAbandoned
from antiphon.cli.permission_prompt import UnattendedAnswerer
from antiphon.cli.render.json_output import JsonOutput

EXIT_CODES = {"completed": DONE, "stopped": INTERRUPTED}


def ask_question(options: argparse.Namespace, question: str) -> int:
    """Ask one question and return the exit code."""
    return asyncio.run(_ask(options, question, choose_chat_model(options)))


async def _ask(options: argparse.Namespace, question: str, choice: ModelChoice) -> int:
    view = chat_view(options, is_question=True)
    output = JsonOutput(sys.stdout) if options.json else None
    opened = open_chat(options, choice, view, output.activity if output else None)
    async with opened as client:
        if options.model is None:
            view.line((choice if client.thread is None else describe(client.config["model"])).summary)
        has_user = sys.stdin.isatty() and sys.stderr.isatty()
        answerer = None if has_user else UnattendedAnswerer(view)
        with Signals() as signals:
            terminal = Terminal(client, TerminalLines(signals), signals, patience_s=0, answerer=answerer)
            try:
                stats = await terminal.converse(client.say(question))
            except WaitAbandoned:
                return INTERRUPTED
        code = EXIT_CODES.get(stats.status or "", FAILED)
        answer = form_answer(options.request.answer, "".join(stats.text))
        if code == DONE and answer.problems:
            code = print_error("chat", f"the answer does not fit the schema: {'; '.join(answer.problems)}", FAILED)
        if output is not None:
            facts = _end_facts(stats, client.thread, client.config["model"], code)
            output.end({**facts, "value": answer.value} if options.request.answer.schema is not None else facts)
        elif options.request.answer.is_held:
            view.markdown(answer.text)
        if options.usage:
            print_note(stats.usage_line(client.config["model"]))
        return code


def _end_facts(stats: ReplyStats, thread: str | None, model: str, code: int) -> dict[str, object]:
    return {
        "thread": thread,
        "model": model,
        "status": stats.status,
        "stop": stats.stop,
        "text": "".join(stats.text),
        "usage": {"input": stats.tokens_in, "output": stats.tokens_out},
        "costUsd": stats.cost_usd if stats.is_priced else None,
        "seconds": stats.seconds,
        "firstMs": stats.first_ms,
        "error": stats.error,
        "exit": code,
    }

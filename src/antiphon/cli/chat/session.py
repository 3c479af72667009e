"""Setup of a chat: the store, models and tools, the thread to continue, and the view."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from antiphon.cli.chat.client import CHAT, ChatClient, Listener
from antiphon.cli.chat.window import open_chat_window
from antiphon.cli.config.settings import load_config
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.foreign_models import allow_models
from antiphon.cli.input.lines import EditingKeys, LineInput
from antiphon.cli.lookup import find_thread, short_id
from antiphon.cli.options import LAST, store_file
from antiphon.cli.render.plain import Footer, HeldView, NullView, PlainView, TextView, can_draw
from antiphon.cli.windows.access import is_from_file
from antiphon.threads.foreign_models import needs_naming


@asynccontextmanager
async def open_chat(
    options: argparse.Namespace,
    choice: ModelChoice,
    view: TextView,
    listener: Listener | None = None,
    *,
    stays: bool = False,
) -> AsyncIterator[ChatClient]:
    """Open the store, the models and the tools, and find the thread to continue; a window that `stays` is held open."""
    user_config = load_config()
    config: dict[str, Any] = {
        "model": choice.reference,
        "system": options.system,
        "consent": {"mode": options.mode or user_config.get(CHAT, "mode") or "ask"},
        **_limits(options, user_config.get(CHAT, "max-cost")),
    }
    continues = options.last or options.thread is not None
    if options.request.settings and not continues:
        config["settings"] = {"options": dict(options.request.settings)}
    async with open_chat_window(options, stays=stays) as (window, tools, problems):
        if options.mcp is not None:
            config["tools"] = tools
        for problem in problems:
            view.line(problem, "error")
        client = ChatClient(window, view, config, listener, options.request.parts)
        client.first_options = options.request.settings if continues else {}
        await _continue(options, client, choice.reference if options.model else None)
        await _set_limits(client, _limits(options))
        if client.thread is not None and options.mode is not None:
            await window.threads.set_mode(client.thread, options.mode)
        if client.thread is None and client.models is not None:
            await client.models.check(choice.reference)  # fails before a message is typed
        yield client


def _limits(options: argparse.Namespace, default_cost: float | None = None) -> dict[str, Any]:
    limits = {
        "maxToolRounds": options.max_tool_rounds,
        "maxCostUsd": options.max_cost or default_cost,
        "maxWallMs": round(options.max_time * 1000) if options.max_time is not None else None,
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


async def _continue(options: argparse.Namespace, client: ChatClient, model: str | None) -> None:
    """Find the chat to continue, and switch it to the named model."""
    prefix = LAST if options.last else options.thread
    if prefix is None:
        return
    client.thread = await find_thread(client.app.library, prefix, "chat")
    current = (await client.read()).content["config"].get("model")
    used = model or current
    # A server elsewhere asks for consent to a model of an imported thread itself.
    is_foreign = client.models is not None and used is not None and needs_naming(used)
    if is_foreign and await is_from_file(client.app, store_file(options), client.thread):
        await allow_models(client.app.threads, client.thread, [used], [model] if model else [])
    if model is None:
        client.config["model"] = current or client.config["model"]
    elif current != model or client.is_remote:
        await client.perform("use_model", model=model)


async def _set_limits(client: ChatClient, limits: dict[str, Any]) -> None:
    """Set the limits of a chat that is continued; at a limit, the user is asked instead."""
    if client.thread is not None and limits and await client.app.threads.status(client.thread) != "waiting":
        await client.perform("raise_limit", **limits)


def chat_view(options: argparse.Namespace, *, is_question: bool, footer: Footer | None = None) -> TextView:
    """Return the view for the options and the output; one that draws shows the footer below a reply."""
    if options.json:
        return NullView()
    if is_question and options.request.answer.is_held:
        return HeldView(sys.stdout, sys.stderr)
    thinking = _flag(options.thinking, load_config().get(CHAT, "thinking"))
    if is_question and not sys.stdout.isatty():
        return PlainView(sys.stdout, sys.stderr, show_thinking=thinking)
    if is_plain(options) or not can_draw(sys.stdout, os.environ) or find_spec("rich") is None:
        return PlainView(sys.stdout, show_thinking=thinking)
    # Imported here because rich is slow to load.
    from antiphon.cli.render.rich import rich_view

    return rich_view(show_thinking=thinking, footer=footer)


def is_plain(options: argparse.Namespace) -> bool:
    """Return whether plain text is wanted, by the option or the setting."""
    return _flag(options.plain, load_config().get(CHAT, "plain"))


async def listed_id(client: ChatClient) -> str:
    """Return the id of the chat as lists show it."""
    return await short_id(client.app.library, client.open_thread())


def use_editing_mode(lines: LineInput) -> None:
    """Let the input use the keys of the setting, if there is one."""
    keys: EditingKeys | None = load_config().get(CHAT, "editing-mode")
    if keys is not None:
        lines.use_keys(keys)


def _flag(option: bool | None, setting: bool | None) -> bool:
    """Return an option that was used, else the setting."""
    return bool(setting if option is None else option)

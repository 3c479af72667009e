"""The model of a new chat: chosen on this machine, or by what a server elsewhere can use."""

import argparse

from antiphon.cli.default_model import SCRIPTED, ModelChoice, choose_model


def choose_chat_model(options: argparse.Namespace) -> ModelChoice:
    """Choose the named model, else the default of this machine, or that of the server elsewhere."""
    if options.model is not None or options.server is None:
        return choose_model(options.model)
    # Imported here because few chats are on a server elsewhere.
    from antiphon.cli.windows.remote import choose_remote_model

    return choose_remote_model(options, None, SCRIPTED)

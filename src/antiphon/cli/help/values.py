"""Values that completion offers: models, ids of threads, templates, settings, keys and options of models."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from antiphon.paths import store_path

Values = Iterable[tuple[str, str]]
MOST_IDS = 50
LAST = "last"
MODEL_NAMES = ("MODEL", "REF", "rules|MODEL")
# The kind of the threads that a command is about; all kinds for others.
KINDS: Mapping[str, str] = {"chat": "chat", "run": "run", "runs": "run", "debate": "debate", "debates": "debate"}


def values_of(path: Sequence[str], dest: str, name: str, previous: str = "") -> Values:
    """Return the values of an argument of a command, each with an explanation; `previous` is the word before."""
    if name in MODEL_NAMES:
        return _models()
    if name == "ID":
        return _ids(KINDS.get(path[0]))
    by_place: Mapping[tuple[str, str], Callable[[], Values]] = {
        ("chat", "template"): _templates,
        ("chat", "option"): _model_options if name == "KEY" else partial(_model_option_values, previous),
        ("debate", "format"): _debate_formats,
        ("debate", "on_limit"): _limit_actions,
        ("templates", "name"): _templates,
        ("config", "key"): _settings,
        ("keys", "name"): _key_names,
        ("help", "topic"): list,
    }
    return by_place.get((path[0], dest), list)()


def _models() -> Values:
    # Imported here because only models need it.
    from antiphon.cli.config.settings import load_config
    from antiphon.providers.catalog import list_models

    aliases = load_config().aliases
    yield from aliases.items()
    for row in list_models(local_models=lambda address, key: []):  # a server is not waited for
        if row.usable:
            yield row.reference, row.note


def _ids(kind: str | None) -> Values:
    # Imported here because only ids need it.
    from antiphon.runtime.index.rows import ListedTree, RowFilter
    from antiphon.stores.sqlite import SqliteStore
    from antiphon.threads.index import listed_view

    async def read() -> list[ListedTree]:
        store = SqliteStore(store_path(), read_only=True)
        await store.open()
        try:
            return await store.index.page(RowFilter(kind), None, MOST_IDS)
        finally:
            await store.close()

    yield LAST, "the latest one"
    if store_path().is_file():
        for tree in asyncio.run(read()):
            yield tree.root, listed_view(tree).title


def _templates() -> Values:
    from antiphon.cli.config.templates import template_names

    return [(name, "") for name in template_names()]


def _settings() -> Values:
    from antiphon.cli.config.settings import ALIAS, SETTINGS, load_config

    yield from ((setting.key, setting.about) for setting in SETTINGS)
    yield from ((f"{ALIAS}.{name}", model) for name, model in load_config().aliases.items())


def _key_names() -> Values:
    from antiphon.providers.keys import OPTIONAL_VARIABLES, VARIABLES

    return [(name, "") for name in (*VARIABLES, *OPTIONAL_VARIABLES)]


def _model_options() -> Values:
    from antiphon.cli.config.model_options import OPTIONS

    return [(name, form) for name, (_, _, form) in OPTIONS.items()]


def _model_option_values(option: str) -> Values:
    from antiphon.cli.config.model_options import EFFORTS

    return [(effort, "") for effort in EFFORTS] if option == "thinking" else []


def _debate_formats() -> Values:
    from antiphon.debate import FORMATS

    return [(name, "") for name in FORMATS]


def _limit_actions() -> Values:
    return [("error", "stop, the default"), ("judge", "go to the verdict")]

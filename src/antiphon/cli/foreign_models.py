"""Models by address or file of threads that were imported or restored: a person names them with `--model`."""

from collections.abc import Iterable

from antiphon.cli.frame import UsageError
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.windows.types import AnyThreads
from antiphon.providers.local.sources import absolute_reference
from antiphon.threads.foreign_models import needs_naming


async def allow_models(threads: AnyThreads, id: str, models: Iterable[str], named: Iterable[str]) -> None:
    """Let a thread from a file use its models by address or file; `UsageError` if a person has not named one of them.

    Threads that were not imported or restored may use all of their models.
    """
    references = {absolute_reference(name) for name in named}
    for model in models:
        if not needs_naming(model):
            continue
        if model not in references:
            raise UsageError(
                f"{id} was imported or restored, and a model by address or file is not taken from a file; "
                f"if you trust this one, name it with --model {sanitize_line(model)}"
            )
        await threads.allow_model(id, model)

"""Documents such as PDFs: the models that take them, and what the others get in their place."""

from dataclasses import replace

from antiphon.errors import Code
from antiphon.messages import AttachedDocument, Message, Part, Text
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import parse_reference

# Formats without documents; a server of one's own, a script and a plug-in say by themselves what they do not take.
WITHOUT_DOCUMENTS = ("mistral", "ollama", "local")
READERS = "anthropic, openai or google"


def takes_documents(reference: str) -> bool:
    """Return whether documents are sent to a model."""
    return parse_reference(reference).provider not in WITHOUT_DOCUMENTS


def check_documents(reference: str) -> None:
    """Raise `ProviderError` if a model takes no documents."""
    if not takes_documents(reference):
        advice = f"choose a model of {READERS}, or attach the text of the PDF"
        raise ProviderError(Code.UNSUPPORTED, f"{reference} takes no PDFs; {advice}")


def replace_documents(message: Message) -> Message:
    """Return a message with a note in place of each document, for models that take none."""
    return replace(message, parts=tuple(map(_without_document, message.parts)))


def _without_document(part: Part) -> Part:
    if not isinstance(part, AttachedDocument):
        return part
    name = f" {part.name!r}" if part.name else ""
    return Text(f"[a document{name} that this model cannot read]")

"""The wire format of servers compatible with OpenAI: Ollama, LM Studio, vLLM, llama.cpp and others."""

from dataclasses import replace

from antiphon.providers.formats.chat_completions import ChatWire, Dialect

DIALECT = Dialect(
    "compatible",
    max_tokens="max_tokens",
    id_pattern=r"\S{1,64}",
    id_length=40,
    # Some of them end the body right after the finish reason.
    needs_done=False,
    # Some of them reject unknown fields.
    cache_key=False,
)
COMPATIBLE = ChatWire(DIALECT)
OLLAMA = ChatWire(replace(DIALECT, takes_documents=False))

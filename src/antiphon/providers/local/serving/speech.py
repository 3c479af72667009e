"""Speaking with the network: a conversation is read, and a reply written token by token."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from antiphon.providers.local.serving.endpoint import Order, TooLong
from antiphon.providers.local.serving.outline import values
from antiphon.providers.local.serving.tokens import Tokens
from antiphon.providers.local.serving.transformer import Transformer

# Between two of these pieces of a prompt it is noticed that nobody listens any more.
PIECE = 128
CANDIDATES = 40
# How far down the list of likely tokens one that fits is looked for.
FAR = 400
GREETING = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


class Speech:
    """Writes replies; it remembers the last conversation, so that going on with it is quick."""

    def __init__(self, tokens: Tokens, transformer: Transformer) -> None:
        self._tokens = tokens
        self._transformer = transformer
        self._memory = transformer.memory()
        self._scores: np.ndarray = np.zeros(0)
        self.known = self.written = 0
        self.cut = False

    def read(self, messages: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int]]:
        """Read a conversation, piece by piece; gives how many tokens are read, and of how many."""
        prompt = self._prompt(messages)
        if len(prompt) >= self._transformer.window:
            raise TooLong(len(prompt), self._transformer.window)
        self.known = _common(self._memory.tokens, prompt[:-1])
        del self._memory.tokens[self.known :]
        self.written, self.cut = 0, False
        for start in range(self.known, len(prompt), PIECE):
            self._scores = self._transformer.read(prompt[start : start + PIECE], self._memory)
            yield min(start + PIECE, len(prompt)), len(prompt)

    def write(self, order: Order) -> Iterator[str]:
        """The reply to what was read, in pieces; afterwards `cut` says whether it was cut off."""
        random = np.random.default_rng(order.seed)
        self._most = min(order.max_tokens, self._transformer.window - len(self._memory.tokens) - 1)
        if order.schema is not None:
            yield from values(order.schema, order.schema, self)
            return
        pending = b""
        while not self.full():
            token = self._next(order.temperature, random)
            if token == self._tokens.end:
                return
            self._take(token)
            pending += self._tokens.decode(token)
            try:
                text, pending = pending.decode(), b""
            except UnicodeDecodeError:
                continue
            yield text

    # -- what an outline needs -----------------------------------------------------------------------------------------

    def full(self) -> bool:
        """Whether the limit is reached; a reply that asks is cut off by it."""
        self.cut = self.written >= self._most
        return self.cut

    def say(self, text: str) -> str:
        """Write a given text."""
        tokens = self._tokens.encode(text)
        if tokens:
            self._scores = self._transformer.read(tokens, self._memory)
            self.written += len(tokens)
        return text

    def choose(self, texts: Sequence[str]) -> str:
        """Write the likeliest of some texts, measured per token."""
        if len(texts) == 1:
            return self.say(texts[0])
        length, scores = len(self._memory.tokens), self._scores
        weighed = []
        for text in texts:
            total, tokens = 0.0, self._tokens.encode(text)
            for token in tokens:
                shifted = self._scores - self._scores.max()
                total += float(shifted[token] - np.log(np.exp(shifted).sum()))
                self._scores = self._transformer.read([token], self._memory)
            weighed.append(total / len(tokens))
            del self._memory.tokens[length:]
            self._scores = scores
        return self.say(texts[int(np.argmax(weighed))])

    def grow(self, fits: Any, ends: str) -> Iterator[str]:
        """Write freely, but only tokens that fit what is there, until one begins with an ending letter."""
        text = ""
        while not self.full():
            for token in map(int, np.argsort(-self._scores)[:FAR]):
                piece = self._tokens.decode(token).decode("utf-8", "ignore")
                over = token == self._tokens.end or piece[:1] in ends
                if (over and text) or (piece and not over and fits(text + piece)):
                    break
            else:
                return
            if over:
                return
            self._take(token)
            text += piece
            yield piece

    def _take(self, token: int) -> None:
        self._scores = self._transformer.read([token], self._memory)
        self.written += 1

    def _next(self, temperature: float, random: np.random.Generator) -> int:
        if temperature <= 0:
            return int(self._scores.argmax())
        best = np.argpartition(self._scores, -CANDIDATES)[-CANDIDATES:]
        chances = np.exp((self._scores[best] - self._scores[best].max()) / temperature)
        return int(random.choice(best, p=chances / chances.sum()))

    def _prompt(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        framed = [] if messages and messages[0]["role"] == "system" else [("system", GREETING)]
        framed += [(message["role"], message["content"]) for message in messages]
        prompt: list[int] = []
        for role, content in framed:
            prompt += self._tokens.encode(f"<|im_start|>{role}\n", control=True)
            prompt += self._tokens.encode(content)
            prompt += self._tokens.encode("<|im_end|>\n", control=True)
        return prompt + self._tokens.encode("<|im_start|>assistant\n", control=True)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count

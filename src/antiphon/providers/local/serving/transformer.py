"""The network itself: Llama's architecture in NumPy, one conversation at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

FIRST_ROOM = 256


class Memory:
    """The keys and values of the tokens read so far; `tokens` can be cut back to any beginning."""

    def __init__(self, layers: int, heads: int, width: int) -> None:
        self.tokens: list[int] = []
        self.keys = [np.empty((heads, FIRST_ROOM, width), "f4") for _ in range(layers)]
        self.values = [np.empty((heads, FIRST_ROOM, width), "f4") for _ in range(layers)]

    def keep(self, kept: list[np.ndarray], layer: int, first: int, new: np.ndarray) -> np.ndarray:
        """Put what belongs to new tokens behind the old, and give all of it."""
        heads, count, width = new.shape
        room = kept[layer].shape[1]
        if room < first + count:
            more = np.empty((heads, max(first + count - room, room), width), "f4")
            kept[layer] = np.concatenate([kept[layer], more], 1)
        kept[layer][:, first : first + count] = new
        return kept[layer][:, : first + count]


class Transformer:
    """Weights that say what may come next."""

    def __init__(self, settings: Mapping[str, Any], tensors: dict[str, np.ndarray]) -> None:
        def setting(name: str) -> Any:
            return settings[f"llama.{name}"]

        self.window: int = setting("context_length")
        self._layers: int = setting("block_count")
        self._heads: int = setting("attention.head_count")
        self._shared_heads: int = setting("attention.head_count_kv")
        self._width: int = setting("embedding_length") // self._heads
        self._tiny = np.float32(setting("attention.layer_norm_rms_epsilon"))
        steps = np.arange(0, self._width, 2, dtype="f4") / self._width
        self._frequencies = np.float32(setting("rope.freq_base")) ** -steps
        self._tensors = tensors
        self._embedding = tensors["token_embd.weight"]
        for layer in range(self._layers):
            # One large product is faster than several small ones.
            self._join(f"{layer}.attend", [f"blk.{layer}.attn_{name}.weight" for name in "qkv"])
            self._join(f"{layer}.widen", [f"blk.{layer}.ffn_{name}.weight" for name in ("gate", "up")])

    def memory(self) -> Memory:
        """A memory of nothing."""
        return Memory(self._layers, self._shared_heads, self._width)

    def read(self, tokens: Sequence[int], memory: Memory) -> np.ndarray:
        """Read on, and give the score of every token that may come next."""
        first = len(memory.tokens)
        places = np.arange(first, first + len(tokens), dtype="f4")
        ahead = np.arange(first + len(tokens))[None] > places[:, None]
        mask = np.where(ahead, np.float32(-1e9), np.float32(0)) if len(tokens) > 1 else None
        state = self._embedding[list(tokens)]
        for layer in range(self._layers):
            state = state + self._attend(layer, state, memory, first, places, mask)
            state = state + self._think(layer, state)
        memory.tokens += tokens
        return self._scaled(state[-1], "output_norm.weight") @ self._embedding.T

    def _join(self, name: str, parts: list[str]) -> None:
        self._tensors[name] = np.concatenate([self._tensors.pop(part) for part in parts])

    def _attend(
        self, layer: int, state: np.ndarray, memory: Memory, first: int, places: np.ndarray, mask: np.ndarray | None
    ) -> np.ndarray:
        heads, shared, width, count = self._heads, self._shared_heads, self._width, len(state)
        mixed = self._scaled(state, f"blk.{layer}.attn_norm.weight") @ self._tensors[f"{layer}.attend"].T
        asked, known, told = np.split(mixed, [heads * width, (heads + shared) * width], axis=-1)
        asked = self._turned(asked.reshape(count, heads, width), places)
        known = self._turned(known.reshape(count, shared, width), places).transpose(1, 0, 2)
        told = told.reshape(count, shared, width).transpose(1, 0, 2)
        keys = memory.keep(memory.keys, layer, first, known)
        values = memory.keep(memory.values, layer, first, told)
        each = heads // shared
        grouped = asked.transpose(1, 0, 2).reshape(shared, each * count, width)
        scores = grouped @ keys.transpose(0, 2, 1) * np.float32(width**-0.5)
        if mask is not None:
            scores = (scores.reshape(shared, each, count, -1) + mask).reshape(shared, each * count, -1)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        seen = (scores @ values).reshape(heads, count, width).transpose(1, 0, 2).reshape(count, heads * width)
        return seen @ self._tensors[f"blk.{layer}.attn_output.weight"].T

    def _think(self, layer: int, state: np.ndarray) -> np.ndarray:
        wide = self._scaled(state, f"blk.{layer}.ffn_norm.weight") @ self._tensors[f"{layer}.widen"].T
        gate, up = np.split(wide, 2, -1)
        return (gate / (1 + np.exp(-gate)) * up) @ self._tensors[f"blk.{layer}.ffn_down.weight"].T

    def _scaled(self, state: np.ndarray, name: str) -> np.ndarray:
        size = np.sqrt((state * state).mean(-1, keepdims=True) + self._tiny)
        return state / size * self._tensors[name]

    def _turned(self, state: np.ndarray, places: np.ndarray) -> np.ndarray:
        angles = np.outer(places, self._frequencies)
        cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
        turned = np.empty_like(state)
        turned[..., ::2] = state[..., ::2] * cosines - state[..., 1::2] * sines
        turned[..., 1::2] = state[..., ::2] * sines + state[..., 1::2] * cosines
        return turned

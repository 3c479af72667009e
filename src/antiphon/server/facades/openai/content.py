"""Content of messages: texts and images, in the words of both APIs."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from antiphon.server.facades.openai.errors import bad_parameter

Json = Mapping[str, Any]
TEXTS = ("text", "input_text", "output_text", "refusal")
IMAGES = ("image_url", "input_image")
DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)
MEDIA_TYPES = {"png": "image/png", "gif": "image/gif", "webp": "image/webp"}
JPEG = "image/jpeg"


def read_content(value: Any, place: str, *, images: bool = False) -> list[dict[str, Any]]:
    """Return the parts of a content: a text, a list of parts, or nothing; raise `ProblemError` for anything else."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if not isinstance(value, list):
        raise bad_parameter(place, "must be a text or a list of parts")
    return [_part(part, f"{place}[{number}]", images) for number, part in enumerate(value)]


def _part(part: Any, place: str, images: bool) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in TEXTS:
        return {"type": "text", "text": _text(part, "refusal" if kind == "refusal" else "text", place)}
    if kind in IMAGES and images:
        return _image(part.get("image_url"), f"{place}.image_url")
    known = (*TEXTS, *IMAGES) if images else TEXTS
    raise bad_parameter(f"{place}.type", f"is {kind!r}; supported: {', '.join(known)}")


def _text(part: Json, key: str, place: str) -> str:
    text = part.get(key)
    if not isinstance(text, str):
        raise bad_parameter(f"{place}.{key}", "must be a text")
    return text


def _image(value: Any, place: str) -> dict[str, Any]:
    url = value.get("url") if isinstance(value, dict) else value
    if not isinstance(url, str):
        raise bad_parameter(place, "must be the address of an image, or its data as base64")
    if url.startswith("data:"):
        return _inline_image(url, place)
    if not url.startswith(("https://", "http://")):
        raise bad_parameter(place, "must begin with https://, http:// or data:")
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    return {"type": "image", "mediaType": MEDIA_TYPES.get(ending, JPEG), "url": url}


def _inline_image(url: str, place: str) -> dict[str, Any]:
    match = DATA_URL.fullmatch(url)
    try:
        base64.b64decode(match[2] if match else "=", validate=True)
    except binascii.Error:
        raise bad_parameter(place, "must be data:image/TYPE;base64, and the data") from None
    assert match is not None
    return {"type": "image", "mediaType": match[1], "data": match[2]}

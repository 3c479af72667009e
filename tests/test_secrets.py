"""A key is used, and then nowhere to be seen: in no store, journal, view, error or log."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from antiphon.app import App
from tests.fixtures.providers import CANARY, FORMATS, Canned, stand

# A reply that comes, one that breaks off, and a server that quotes what it was sent.
SCENES = ("text", "overload", "401")


@pytest.mark.requirement("X-6")
@pytest.mark.parametrize("format", FORMATS)
def test_a_key_is_nowhere_in_what_a_conversation_leaves(
    format: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    visible: list[str] = []
    caplog.set_level(logging.DEBUG)

    async def talk(app: App, model: str) -> None:
        thread = await app.chats.create(model=model, settings={"maxAttempts": 1})
        receipt = await app.chats.say(thread, "Hello")
        visible.extend([repr(activity) async for activity in app.chats.until_idle(thread, receipt.seq - 1)])
        visible.append(repr(await app.runtime.snapshot(thread)))
        visible.append(repr(await app.library.read(thread)))

    async def main() -> None:
        async with stand() as place, App(tmp_path / "store.db", models=place.models) as app:
            for scene in SCENES:
                await talk(app, place.open(format, scene).model.reference)
            assert any(record.key_header for record in place.fake.requests) or format == "compatible"
            visible.append(repr(app.__dict__))

    asyncio.run(main())
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert len(files) > 1000
    assert CANARY.encode() not in files
    assert CANARY not in "".join(visible) + caplog.text + "".join(capfd.readouterr())


def test_the_beginning_of_a_key_that_an_error_repeats_is_not_stored(tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": "x" * 480 + CANARY}}).encode()

    async def main() -> None:
        transport = Canned(500, {"request-id": CANARY}, body)
        async with stand(transport=transport) as place, App(tmp_path / "store.db", models=place.models) as app:
            reference = place.open("openai", "text").model.reference
            thread = await app.chats.create(model=reference, settings={"maxAttempts": 1})
            receipt = await app.chats.say(thread, "Hello")
            async for _ in app.chats.until_idle(thread, receipt.seq - 1):
                pass

    asyncio.run(main())
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"x" * 480 + b"[key]" in files
    assert CANARY[:4].encode() not in files

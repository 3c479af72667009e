"""Run the fake server as a program: `python -m antiphon.testing.fake_llm --port 8099`."""

import asyncio
from argparse import ArgumentParser
from contextlib import suppress

from antiphon.testing.fake_llm.encoders import ENCODERS
from antiphon.testing.fake_llm.scenarios import SCENARIOS
from antiphon.testing.fake_llm.server import FakeLLM


async def serve(port: int) -> None:
    """Serve until interrupted."""
    async with FakeLLM(port) as fake:
        for format in ENCODERS:
            print(f"{format:12} {fake.base_url(format)}", flush=True)
        print("the scenario is the part of the model name after the last dash:", flush=True)
        for name, scenario in SCENARIOS.items():
            print(f"  any-{name:10} {scenario.about}", flush=True)
        await fake.serve_forever()


def main() -> None:
    """Read the port and serve."""
    parser = ArgumentParser(prog="python -m antiphon.testing.fake_llm", description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()

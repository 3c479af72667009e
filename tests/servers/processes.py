"""Real servers as processes: started on the loopback interface, ended by closing their standard input."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from antiphon.providers.local.weights import SMOLLM2, models_folder, verify
from tests.paths import ROOT

HERE = Path(__file__).parent
INSTALLED = ROOT / ".servers"
GATEWAY_PYTHON = INSTALLED / "gateway" / "bin" / "python"
MASTER_KEY = "sk-gateway-2f6c1d8e"
START_S = 120
END_S = 20
LAST_LINES = 40
# Nothing is fetched or reported while it runs.
GATEWAY_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "NO_DOCS": "True"}


@dataclass(slots=True)
class Server:
    """Process that serves an address."""

    process: subprocess.Popen[str]
    address: str = ""
    # The last lines that it wrote.
    lines: list[str] = field(default_factory=list)

    @property
    def output(self) -> IO[str]:
        """What it writes."""
        assert self.process.stdout is not None
        return self.process.stdout

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self.process.kill()
        self.process.wait(END_S)


@contextmanager
def llama(port: int = 0) -> Iterator[Server]:
    """Run llama.cpp's own server with the embedded weights."""
    weights = verify(SMOLLM2, models_folder())
    command = [sys.executable, "-P", str(HERE / "llama_server.py"), str(weights), str(port)]
    with _serving(command, {"GOMP_SPINCOUNT": "1000"}, "http://") as server:
        server.address = server.lines[-1].strip()
        yield server


@contextmanager
def gateway(folder: Path, models: Mapping[str, str]) -> Iterator[Server]:
    """Run a gateway in front of servers, by model and address."""
    parameters = {"model": "openai/smollm2", "api_key": "none", "num_retries": 0}
    config = {
        "model_list": [
            {"model_name": name, "litellm_params": {**parameters, "api_base": f"{address}/v1"}}
            for name, address in models.items()
        ],
        "general_settings": {"master_key": MASTER_KEY},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "litellm_settings": {"telemetry": False},
    }
    path = folder / "gateway.yaml"
    path.write_text(json.dumps(config))  # JSON is YAML
    port = free_port()
    command = [str(GATEWAY_PYTHON), "-P", str(HERE / "gateway_server.py"), "--config", str(path)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with _serving(command, GATEWAY_ENVIRONMENT, "Uvicorn running on") as server:
        server.address = f"http://127.0.0.1:{port}"
        yield server


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _serving(command: list[str], environment: Mapping[str, str], ready: str) -> Iterator[Server]:
    """Run a program, from the line that reports its readiness until its standard input is closed."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdin is not None
        server = Server(process)
        # A process that is not ready, or does not end, in time is killed.
        start_limit = threading.Timer(START_S, process.kill)
        start_limit.start()
        try:
            _read_until(server, ready)
            start_limit.cancel()
            reader = threading.Thread(target=_read_to_the_end, args=(server,), daemon=True)
            reader.start()
            yield server
            process.stdin.close()
            process.wait(END_S)
            reader.join(END_S)
        finally:
            start_limit.cancel()
            process.kill()


def _read_until(server: Server, text: str) -> None:
    for line in server.output:
        server.lines.append(line)
        if text in line:
            return
    raise AssertionError(f"{server.process.args!r} is not ready: {''.join(server.lines[-LAST_LINES:])}")


def _read_to_the_end(server: Server) -> None:
    """Keep the pipe empty, so that the process never waits for a reader."""
    for line in server.output:
        server.lines.append(line)
        del server.lines[:-LAST_LINES]


@contextmanager
def everything_over_http(program: Path) -> Iterator[str]:
    """Run a reference server of MCP over HTTP; it ends when it is killed."""
    port = free_port()
    options = f"--require={HERE / 'loopback.cjs'}"
    environment = {"PORT": str(port), "NODE_OPTIONS": options}
    with _serving([str(program), "streamableHttp"], environment, "listening") as server:
        yield f"http://127.0.0.1:{port}"
        server.kill()

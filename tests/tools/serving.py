"""A real MCP server for tests, made with the official library: what it does wrong is chosen by its first argument.

`ok` serves, `chatty` also writes what is no message, `slow` takes its time first, `dies` and `mute` never serve,
`http` serves at an address of this machine and prints its port. `old` is the one that is written by hand: it speaks
the protocol as it was before 2026-07-28, as most servers still do, lists its tools on two
pages, one of them twice, and starts in no time.
"""

import base64
import json
import os
import socket
import subprocess
import sys
import time

SECRET = os.environ.get("SERVER_SECRET", "")
PIXEL = b"\x89PNG one pixel"


def serve(mode):
    import anyio
    import mcp_types
    from mcp.server.mcpserver import Context, Image, MCPServer

    server = MCPServer("testing")
    waits = {"begun": 0, "cancelled": 0}

    @server.tool(description="Says it again.", structured_output=False)
    def echo(text: str):
        if mode == "chatty":
            print(f"echoing, by the way the secret is {SECRET}", flush=True)
        return text

    @server.tool(annotations=mcp_types.ToolAnnotations(read_only_hint=True), structured_output=False)
    def peek():
        return "a look"

    @server.tool(annotations=mcp_types.ToolAnnotations(destructive_hint=False), structured_output=False)
    def note():
        return "noted"

    @server.tool(annotations=mcp_types.ToolAnnotations(title="Wipe", idempotent_hint=True), structured_output=False)
    def wipe():
        return "wiped"

    @server.tool(name="what's up?", structured_output=False)
    def odd_name():
        return "all is well"

    @server.tool(structured_output=False)
    def environment(name: str):
        return os.environ.get(name, "(not set)")

    @server.tool()
    def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    @server.tool(structured_output=False)
    def fail():
        raise ValueError(f"this never works, says {SECRET}")

    @server.tool(structured_output=False)
    def picture():
        return Image(data=PIXEL, format="png")

    @server.tool(structured_output=False)
    def everything():
        encoded = base64.b64encode(PIXEL).decode()
        note = mcp_types.TextResourceContents(uri="note://1", text="a note")
        blob = mcp_types.BlobResourceContents(uri="file:///x.bin", blob=encoded, mime_type="application/x")
        return [
            mcp_types.TextContent(text="words"),
            mcp_types.ImageContent(data=encoded, mime_type="image/png"),
            mcp_types.AudioContent(data=encoded, mime_type="audio/wav"),
            mcp_types.ResourceLink(name="report", uri="https://x.example/r", mime_type="text/html"),
            mcp_types.EmbeddedResource(resource=note),
            mcp_types.EmbeddedResource(resource=blob),
        ]

    @server.tool(structured_output=False)
    def huge(characters: int):
        return "x" * characters

    @server.tool(structured_output=False)
    async def wait():
        waits["begun"] += 1
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            waits["cancelled"] += 1
            raise

    @server.tool(structured_output=False)
    def waited(what: str):
        return str(waits[what])

    @server.tool(structured_output=False)
    async def freeze():
        time.sleep(3600)

    @server.tool(structured_output=False)
    def die():
        print(f"out of memory, and {SECRET}", file=sys.stderr, flush=True)
        os._exit(3)

    @server.tool(structured_output=False)
    def pid():
        return str(os.getpid())

    @server.tool(structured_output=False)
    def leave_a_child(fifo: str):
        subprocess.Popen(["sh", "-c", f"exec sleep 3600 > {fifo}"], stdin=subprocess.DEVNULL)
        return "left"

    @server.tool(structured_output=False)
    def headers(context: Context):
        return context.headers.get("x-token", "(none)")

    if mode == "http":
        listen(server)
    else:
        server.run()


def listen(server):
    import uvicorn

    with socket.socket(proto=socket.IPPROTO_TCP) as place:
        place.bind(("127.0.0.1", 0))
        place.listen()
        print(place.getsockname()[1], flush=True)
        settings = uvicorn.Config(server.streamable_http_app(), log_level="error")
        uvicorn.Server(settings).run(sockets=[place])


def serve_as_of_old():
    tool = {"inputSchema": {"type": "object"}}
    pages = {
        None: {"tools": [{"name": "echo", **tool}, {"name": "echo", **tool}], "nextCursor": "2"},
        "2": {"tools": [{"name": "pid", **tool}, {"name": "die", **tool}]},
    }
    for line in sys.stdin:
        asked = json.loads(line)
        params = asked.get("params", {})
        match asked["method"]:
            case "initialize":
                info = {"name": "old", "version": "1"}
                result = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": info,
                }
            case "tools/list":
                result = pages[params.get("cursor")]
            case "tools/call":
                if params["name"] == "die":
                    os._exit(3)
                text = str(os.getpid()) if params["name"] == "pid" else params["arguments"]["text"]
                result = {"content": [{"type": "text", "text": text}]}
            case _:
                result = None
        if "id" in asked:
            answer = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)


def main(mode):
    if mode == "old":
        return serve_as_of_old()
    if mode == "dies":
        sys.exit(f"no licence found for {SECRET}")
    if mode == "mute":
        time.sleep(3600)
    if mode == "slow":
        time.sleep(0.3)
    if mode == "chatty":
        print(f'Welcome! {SECRET}\n{{}}\n[1, 2]\n\n{{"jsonrpc": "1.0"}}', flush=True)
    return serve(mode)


if __name__ == "__main__":
    main(sys.argv[1])

"""Routes of the server itself for windows of its machine, over its socket: what it is, and handing over."""

import logging
import os

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.bodies import HandOver
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, json_response, read_body
from antiphon.server.problems import ProblemError
from antiphon.server.replies import HandOverReply, LocalReply
from antiphon.server.windows.idle import is_busy
from antiphon.server.windows.keys import KEY_VARIABLES
from antiphon.server.windows.rules import Local
from antiphon.version import VERSION

routes = Routes("local")
_log = logging.getLogger("antiphon.server")


@routes.add("GET", "/local", "The server itself, for windows of its machine", gives=LocalReply)
async def read_local(local: Local) -> Response:
    """Its version, process and store; and the names of the keys that it takes from windows."""
    about = {"version": VERSION, "pid": os.getpid(), "store": str(local.store), "startedAt": local.started_at}
    return json_response({**about, "mode": local.mode, "keys": list(KEY_VARIABLES)})


@routes.add(
    "POST", "/local/hand-over", "End the server for another one", takes=HandOver, gives=HandOverReply, status=202
)
async def hand_over(request: Request, context: Context, local: Local) -> Response:
    """Streams are closed, running threads are stored, and the store is released."""
    body = await read_body(request, HandOver)
    if body.get("ifIdle") and (local.mode != "local" or await is_busy(context, requests=1)):
        raise ProblemError("busy", f"the server of version {VERSION} is in use; try again when it is idle")
    _log.warning("the store is handed over to version %s", body.get("version", VERSION)[:40])
    local.stop()
    return json_response({"pid": os.getpid()}, 202)

"""Routes of windows of the server's machine, over its socket: their keys, what they bring, and what they give."""

from starlette.requests import Request
from starlette.responses import Response

from antiphon.providers.errors import ProviderError
from antiphon.server.bodies import GrantList, OpenWindow, WindowKeyList
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, json_response, read_body
from antiphon.server.problems import ProblemError
from antiphon.server.replies import WindowList
from antiphon.server.requests import ThreadId
from antiphon.server.streams import MEDIA_TYPE, EventStream
from antiphon.server.windows.keys import KEY_VARIABLES, WINDOW
from antiphon.server.windows.opening import hold_window, read_opening
from antiphon.server.windows.rules import Local, check_folder, check_mode
from antiphon.server.windows.threads import continue_waiting, join_thread, trust_models

routes = Routes("local")


@routes.add("PUT", "/local/keys", "Give the keys of a window to its threads", takes=WindowKeyList, status=204)
async def put_keys(request: Request, context: Context, local: Local) -> Response:
    """They stay in memory as long as the server runs, for threads that the window has created or continued.

    Threads that wait for one of these keys continue.
    """
    window = _require_window()
    try:
        body = await read_body(request, WindowKeyList)
    except ProblemError as problem:
        # The text of the problem may quote a key.
        raise ProblemError(problem.code, "keys must map names of variables to texts") from None
    for name in body["keys"]:
        if name not in KEY_VARIABLES:
            raise ProblemError("bad_settings", f"keys are named by their variables: {', '.join(KEY_VARIABLES)}")
    try:
        local.windows.set_keys(window, body["keys"])
    except ProviderError as error:
        raise ProblemError("bad_settings", error.message) from None
    await continue_waiting(context, local, body["keys"])
    return Response(status_code=204)


def _require_window() -> str:
    """Return the name of the window that asks."""
    window = WINDOW.get()
    if window is None:
        raise ProblemError("bad_header", "the header Antiphon-Window names the window; send it")
    return window


@routes.add(
    "POST",
    "/local/window",
    "Open a window, with its MCP servers and prices",
    takes=OpenWindow,
    media_types=(MEDIA_TYPE,),
)
async def open_window(request: Request, context: Context, local: Local) -> Response:
    """The stream is the window: the server does not end while it is open. Its event `open` has the tools of the
    servers, which end with the stream, or when no thread of the window is running any more.
    """
    window = _require_window()
    try:
        body = await read_body(request, OpenWindow)
    except ProblemError as problem:
        # The text of the problem may quote the environment.
        raise ProblemError(problem.code, "a window brings servers, an environment of texts, and prices") from None
    opening = read_opening(body)
    if opening.prices is not None:
        local.windows.set_prices(window, opening.prices)
    stream = hold_window(context.app.runtime, local.servers, window, opening)
    return EventStream(context, stream, counting=local.presence.hold(window))


@routes.add("GET", "/local/windows", "The terminals and pages that show threads now", gives=WindowList)
async def list_windows(local: Local) -> Response:
    """How many terminals of this machine, and pages and other clients, show a thread, by its id."""
    return json_response({"windows": local.presence.count()})


@routes.add("PUT", "/local/threads/{id}", "Give a thread a folder, a mode or models", takes=GrantList, status=204)
async def put_thread(request: Request, context: Context, local: Local, id: ThreadId) -> Response:
    """It holds as long as the server runs, also for a thread that was imported or restored; the window works on it."""
    body = await read_body(request, GrantList)
    await context.app.threads.status(id)
    folder = check_folder(body["workspace"]) if "workspace" in body else None
    mode = check_mode(body["mode"]) if "mode" in body else None
    if folder is not None:
        local.folders.give(id, folder)
    if mode is not None:
        await context.app.threads.set_mode(id, mode)
    for reference in body.get("models", ()):
        await context.app.threads.allow_model(id, reference)
    trust_models(context, body.get("models", ()))
    join_thread(context, id)
    return Response(status_code=204)

"""The list of mutants."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A text of a module of the package that is replaced by another; a test marked with the row must then fail."""

    row: str
    module: str
    text: str
    instead: str


MUTANTS = (
    # A topic alone does not start a debate.
    Mutant("S4-123", "debate/machine/preparation.py", 'event["type"] == "START_DEBATE" and not', "False and not"),
    # Debaters that arrive later are not checked.
    Mutant(
        "S4-123",
        "debate/machine/preparation.py",
        "return not problems_with(merge_debaters(context, event))",
        "return True",
    ),
    # Their models stay as they came.
    Mutant(
        "S4-123",
        "debate/machine/preparation.py",
        'config["participants"] = participants',
        'config["participants"] = []',
    ),
    # Criteria in words are not exported.
    Mutant("S4-124", "debate/export.py", "if evaluations := criteria_in_words(verdict):", "if evaluations := []:"),
    # A judge may not use words.
    Mutant(
        "S4-124", "debate/judge_function.py", "isinstance(value, str | int | float)", "isinstance(value, int | float)"
    ),
    # The id of the configuration is ignored.
    Mutant("S4-125", "debate/service.py", 'id=all_settings.get("id")', "id=None"),
    # A colour has to be a hexadecimal number.
    Mutant("S4-29", "debate/machine/config.py", '"color": _text(1, 80)', '"color": _like("#[0-9a-f]{6}", "a colour")'),
    # The judge is asked although nobody has spoken.
    Mutant("S4-09", "debate/machine/rounds.py", "return not has_arguments(context)", "return False"),
    # The limit leads to the judge although nobody has spoken.
    Mutant(
        "S4-B12", "debate/machine/guards.py", 'and_([budget.prefers_judge, "hasArguments"])', "budget.prefers_judge"
    ),
    # Chunks are not joined; or for too long.
    Mutant("S4-113", "runtime/coalescing.py", "COALESCE_MS = 50", "COALESCE_MS = 0"),
    Mutant("S4-113", "runtime/coalescing.py", "COALESCE_MS = 50", "COALESCE_MS = 150"),
    # A delay needs an event loop.
    Mutant(
        "S0-02",
        "actors/system.py",
        "        except NoEventLoop:\n            if self._held is None:",
        "        except NoEventLoop:\n            raise\n            if self._held is None:",
    ),
    # A held delay never ends.
    Mutant("S0-87", "actors/held_calls.py", "self._waiting[0].due <= now", "self._waiting[0].due < 0"),
    # Snapshots show the text of the steps.
    Mutant(
        "S0-12",
        "chart/snapshot.py",
        "self._context = join_texts(self.live_context)",
        "self._context = self.live_context",
    ),
    Mutant(
        "S0-13",
        "chart/snapshot.py",
        "self._context = join_texts(self.live_context)",
        "self._context = self.live_context",
    ),
    # A display lacks what it shows.
    Mutant(
        "S0-83", "threads/machine/streaming_reply.py", '"totalTokens": event.get("totalTokens")', '"totalTokens": None'
    ),
    # A server that fails is asked again and again; or never again.
    Mutant("X-2", "providers/circuit.py", "is_open = self._failures >= self._limits.failures", "is_open = False"),
    Mutant("X-2", "providers/circuit.py", "rest_ms = max(0, round(open_until - self._clock.now()))", "rest_ms = 1_000"),
    # A loop ends much later.
    Mutant("E-18", "chart/steps.py", "limit = work.machine.max_iterations", "limit = 30_000"),
    # The machine is not in the list of the chat.
    Mutant("S0-97", "chat/__init__.py", '    "streaming_machine",\n    "to_archive",', '    "to_archive",'),
    # Sessions at the edge stay open.
    Mutant("S1-83", "agents/sessions.py", '                close(session["id"])', "                pass"),
    # The machine keeps the values of sessions that have ended.
    Mutant("S1-83", "agents/machine/sessions.py", "    if closing:\n        rest", "    if False:\n        rest"),
    # Errors are only information.
    Mutant("S1-108", "agents/machine/reports.py", 'line("failed", text, "error"', 'line("failed", text, "info"'),
    Mutant(
        "S1-108",
        "agents/machine/reports.py",
        '[\'maxIterations\']}) reached", "warning"',
        '[\'maxIterations\']}) reached", "info"',
    ),
    # No other model is asked.
    Mutant("S1-109", "agents/machine/sessions.py", "if model not in tried), None)", "if model is None), None)"),
    # Idle connections of closed sessions stay.
    Mutant("S1-109", "providers/registry.py", "await self._servers.release(server)", "pass"),
    # A task with open steps, or whose changes were denied, is done.
    Mutant("S1-B13", "agents/machine/outcome.py", 'plan is not None and not plan["isComplete"]', "False"),
    Mutant("S1-B13", "agents/machine/outcome.py", '    if context["denied"]:', "    if False:"),
    # Requests of agents have no session.
    Mutant("S1-B14", "agents/machine/agent.py", 'None if session is None else session["id"]', "None"),
    # The model is not asked for a proposal; or merged without being confirmed; or a failure is taken for a proposal.
    Mutant("S2-59", "chat/machine/consensus.py", 'return merge["strategy"] == "consensus" and', "return False and"),
    Mutant("S2-59", "chat/machine/validation.py", 'proposal is None or proposal["phase"] == "ready"', "True"),
    Mutant("S2-59", "chat/machine/proposals.py", 'bool(_output(event).get("text"))', "True"),
    # A message that was left behind cannot be entered.
    Mutant("S2-25", "chat/machine/operations.py", 'head = event["message"]', "return context"),
    # A merged branch stays closed.
    Mutant(
        "S2-21",
        "chat/machine/validation.py",
        "return _too_many_branches(context)\n    return None if",
        "pass\n    return None if",
    ),
    # A deleted thread stays in memory; so does an archived one; its work goes on.
    Mutant(
        "S3-58",
        "threads/service.py",
        "await self.resources.delete_copies(id)\n        self.resources.forget(id)",
        "await self.resources.delete_copies(id)",
    ),
    Mutant("S3-58", "threads/service.py", "            await self.runtime.unload(id)\n", ""),
    Mutant("S3-58", "runtime/runtime.py", "                await self.tasks.wait_until_ended(root)\n", ""),
    Mutant("S3-58", "threads/status.py", "if change.thread_id != thread_id]", "]"),
    # The end of a thread has no time.
    Mutant(
        "S3-39", "threads/machine/thread.py", '"completedAt": time_of(event, scope)', '"completedAt": event.get("at")'
    ),
    # A debate over HTTP: it is not judged now, and it is not paused.
    Mutant("S4-120", "server/routes/actions.py", 'id, "JUDGE_NOW", key', 'id, "ACKNOWLEDGE_WARNING", key'),
    Mutant(
        "S4-120",
        "server/routes/actions.py",
        "await context.app.threads.pause(id, key",
        "await context.app.threads.stop(id, key",
    ),
    # Its limit is raised by an event of a chat, and nobody can stop it.
    Mutant(
        "S4-120", "server/routes/actions.py", '"RAISE_LIMIT" if kind == "debate" else "raise_limit"', '"raise_limit"'
    ),
    Mutant("S4-120", "debate/service.py", 'self._perform(id, "STOP", key)', "super().stop(id, key=key)"),
    # A machine is not listed; an export is not what the command line exports.
    Mutant(
        "X-12",
        "server/routes/charts.py",
        "for versions in _machines(context, caller).values()]",
        "for versions in _machines(context, caller).values()][1:]",
    ),
    Mutant("X-12", "server/routes/threads.py", "threads.export(id, format)", 'threads.export(id, "json")'),
    # A route that is not there.
    Mutant("X-12", "server/routes/actions.py", '"/threads/{id}/messages"', '"/threads/{id}/message"'),
)

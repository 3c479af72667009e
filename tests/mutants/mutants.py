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
    # A debate over HTTP: it is not judged now, and it is not paused.
    Mutant("S4-120", "server/routes/actions.py", 'id, "JUDGE_NOW", key', 'id, "ACKNOWLEDGE_WARNING", key'),
    Mutant(
        "S4-120",
        "server/routes/actions.py",
        "await context.app.threads.pause(id)",
        "await context.app.threads.stop(id)",
    ),
    # A route that is not there.
    Mutant("X-12", "server/routes/actions.py", '"/threads/{id}/messages"', '"/threads/{id}/message"'),
)

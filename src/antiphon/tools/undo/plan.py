"""Plans of an undo: the steps that give the files of a workspace their states before some calls.

1. A path gets the state before the first call that changed it, and must be in the state after the last one.
2. Any other state was made by others: in between, if it is not the state that the next call began with, or since.
   So was anything that a command may have changed which was interrupted, as far as can be known.
3. A redo takes back the undos since the last call of a tool: an undo that could not restore every path is completed by
   another one, and one redo takes both back. Paths that a redo has restored are not pending any more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from antiphon.tools.undo.log import UndoLog, open_workspace
from antiphon.tools.undo.records import REDO, UNDO, FileChange, RecordedCall
from antiphon.tools.undo.states import FileState
from antiphon.tools.undo.trees import limited_digest, read_path

SINCE = "it was changed since"
BETWEEN = "it was changed by others between two calls"
INTERRUPTED = "the command that may have changed it was interrupted"


@dataclass(frozen=True, slots=True)
class UndoStep:
    """Step of an undo: a path, its state now, and the state that it gets."""

    workspace: str
    path: str
    now: FileState
    target: FileState
    conflict: str | None = None
    """Reason why the step needs `force`: it would overwrite changes of others."""

    @property
    def action(self) -> str:
        """Description in one word: "restore", "re-create" or "delete"."""
        if self.target.kind == "absent":
            return "delete"
        return "re-create" if self.now.kind == "absent" else "restore"


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """Steps of an undo, the calls that are undone, and sentences on what is not undone."""

    steps: Sequence[UndoStep]
    calls: Sequence[RecordedCall]
    problems: Sequence[str]

    @property
    def conflicts(self) -> list[UndoStep]:
        """Steps that would overwrite changes of others."""
        return [step for step in self.steps if step.conflict is not None]


@dataclass(slots=True)
class _History:
    """Changes of one path by several calls."""

    target: FileState
    # States that the calls can have left behind: two, if the last call was interrupted.
    expected: list[FileState]
    end: float
    conflict: str | None = None


def make_plan(log: UndoLog, calls: Sequence[RecordedCall]) -> UndoPlan:
    """Plan the undo of some calls."""
    problems = [f"{call.tool} {call.about!r}: {call.problem}" for call in calls if call.problem is not None]
    steps: list[UndoStep] = []
    for folder in dict.fromkeys(call.workspace for call in calls if call.changes):
        histories = _histories([call for call in calls if call.workspace == folder])
        with open_workspace(folder) as workspace:
            for path, history in sorted(histories.items()):
                now = read_path(workspace.descriptor, path, limited_digest(log.settings.most_bytes))
                if history.target.matches(now):
                    continue
                if history.target.kind == "other" or (history.target.kind == "file" and history.target.digest is None):
                    problems.append(f"{path!r} is not restored: there is no copy of it")
                    continue
                is_expected = any(state.matches(now) for state in history.expected)
                conflict = history.conflict if is_expected else SINCE
                steps.append(UndoStep(folder, path, now, history.target, conflict))
    return UndoPlan(steps, calls, problems)


def undone_calls(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return the undos and redos since the last call of a tool, with the changes that a redo can take back."""
    pending: dict[tuple[str, str], list[tuple[RecordedCall, FileChange]]] = {}
    for call in _last_undos(calls):
        for change in call.changes.values():
            key = (call.workspace, change.path)
            if call.tool == UNDO:
                _note_undo(pending, key, call, change)
            elif key in pending and change.after is not None and pending[key][0][1].before.matches(change.after):
                del pending[key]
            elif key in pending:
                pending[key].append((call, change))
    changed: dict[int, RecordedCall] = {}
    for call, change in (pair for pairs in pending.values() for pair in pairs):
        changed.setdefault(call.number, replace(call, changes={})).changes[change.path] = change
    return [changed[number] for number in sorted(changed)]


def _last_undos(calls: Sequence[RecordedCall]) -> Sequence[RecordedCall]:
    first = len(calls)
    while first and calls[first - 1].tool in (UNDO, REDO):
        first -= 1
    return calls[first:]


def _note_undo(
    pending: dict[tuple[str, str], list[tuple[RecordedCall, FileChange]]],
    key: tuple[str, str],
    call: RecordedCall,
    change: FileChange,
) -> None:
    if change.after is not None and change.before.matches(change.after):
        return  # it could not be restored
    pairs = pending.get(key, [])
    # What others changed in between is what this undo has overwritten, and what a redo gives back.
    if pairs and not any(state.matches(change.before) for state in _expected(*pairs[-1])):
        pairs = []
    pending[key] = [*pairs, (call, change)]


def _histories(calls: Iterable[RecordedCall]) -> dict[str, _History]:
    histories: dict[str, _History] = {}
    for call in calls:
        end = float("inf") if call.end is None else call.end
        for path, change in call.changes.items():
            history = histories.get(path)
            if history is None:
                history = histories[path] = _History(change.before, _expected(call, change), end)
            else:
                # Calls that ran at the same time see each other's changes.
                is_apart = call.number > history.end
                if is_apart and not any(state.matches(change.before) for state in history.expected):
                    history.conflict = history.conflict or BETWEEN
                if end >= history.end:
                    history.expected = _expected(call, change)
                    history.end = end
            if not call.is_certain:
                history.conflict = history.conflict or INTERRUPTED
    return histories


def _expected(call: RecordedCall, change: FileChange) -> list[FileState]:
    states = [change.before] if call.end is None else []
    return states if change.after is None else [*states, change.after]

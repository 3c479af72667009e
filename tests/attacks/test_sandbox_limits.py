"""Commands in the sandbox are bounded in memory, processes, files and output, and leave nothing running."""

import pytest

from antiphon.tools.access import WRITABLE
from tests.attacks.attack import Attack
from tests.attacks.sandbox_world import make_world, require_layers
from tests.fixtures.processes import processes_in

PYTHON = "python3 -c "
# Each with the reason or the output that shows that it was bounded.
BOUNDED = (
    (Attack("take memory", PYTHON + "'x = [b\"x\" * (1 << 20) for _ in range(2000)]'", False), "MemoryError"),
    (Attack("take memory in many processes", "for i in $(seq 8); do " + PYTHON
            + "'import time; x = b\"x\" * (60 << 20); time.sleep(20)' & done; wait", False), "memory"),
    (Attack("take memory by files", "head -c 900000000 /dev/zero > $TMPDIR/big", False), "limit"),
    (Attack("take all processes", "bomb() { bomb | bomb & }; bomb; sleep 20", False), "processes"),
    (Attack("take all descriptors", PYTHON + "'import os; [os.pipe() for _ in range(9999)]'", False), "Too many open"),
    (Attack("write without end", "yes", False), "output"),
    (Attack("run without end", "sleep 1000", False), "timeout"),
    (Attack("compute without end", "exec sh -c 'while :; do :; done'", False), ""),
)  # fmt: skip
OUTLIVING = (
    Attack("stay in the background", "sleep 987 & disown"),
    Attack("stay in a session of its own", "setsid -f sleep 987"),
    Attack("stay without a parent", "(setsid sleep 987 > /dev/null 2>&1 &) ; exit 0"),
    Attack("kill the supervisor and stay", "setsid -f sleep 987; kill -9 $PPID; sleep 987"),
    Attack("kill everything and stay", "setsid -f sleep 987; kill -9 -1; sleep 987", False),
)
ATTACKS = (*(attack for attack, _ in BOUNDED), *OUTLIVING)
LIMITS = {
    "memory_bytes": 300 << 20, "most_processes": 30, "file_bytes": 50 << 20, "open_files": 256, "cpu_s": 1,
    "most_output_bytes": 1_000_000, "grace_ms": 200,
}  # fmt: skip


@pytest.mark.parametrize("bubblewrap", [False, True], ids=["landlock", "bubblewrap"])
@pytest.mark.parametrize(("attack", "sign"), BOUNDED, ids=[attack.name for attack, _ in BOUNDED])
def test_a_command_is_bounded(attack, sign, bubblewrap):
    require_layers(bubblewrap, False)
    with make_world() as world:
        outcome = world.run(
            attack.payload, WRITABLE, 1_000 if sign == "timeout" else 60_000, bubblewrap=bubblewrap, **LIMITS
        )

        # For another user than the superuser the kernel refuses to fork, and bash goes on.
        is_refused = sign == "processes" and "fork: " in outcome["output"]
        assert outcome["reason"] != "ended" or outcome["status"] != 0 or is_refused
        assert sign in (outcome["reason"], "") or sign in outcome["output"] or is_refused
        assert processes_in(world.workspace) == []


@pytest.mark.parametrize(("bubblewrap", "is_other"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("attack", OUTLIVING, ids=[attack.name for attack in OUTLIVING])
def test_nothing_outlives_a_command(attack, bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        world.run(attack.payload, time_ms=2_000, bubblewrap=bubblewrap, **LIMITS)

        assert processes_in(world.workspace) == []

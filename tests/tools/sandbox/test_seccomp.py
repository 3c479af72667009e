"""The filter refuses what it should on both machines, as an interpreter of BPF shows."""

import errno
import struct

import pytest

from antiphon.tools.sandbox.seccomp import ALLOW, ERROR, MACHINES, NOTIFY, build_filter, can_filter, fork_notices
from antiphon.tools.sandbox.system_calls import NUMBERS

REFUSED = ERROR | errno.EPERM
UNKNOWN = ERROR | errno.ENOSYS
STRICT = {"inet": False, "namespaces": False, "metadata": False}
WRAPPED = {"inet": True, "namespaces": True, "metadata": True}


def decide(program, machine, name, *arguments, audit=None):
    """Return the decision of a program on a system call, as the kernel computes it."""
    audit_number, column = MACHINES[machine]
    number = name if isinstance(name, int) else NUMBERS[name][column]
    words = [value & 0xFFFFFFFFFFFFFFFF for value in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("=IIQ6Q", number, audit or audit_number, 0, *words)
    instructions = list(struct.iter_unpack("=HBBI", program))
    accumulator = 0
    position = 0
    while True:
        code, if_true, if_false, value = instructions[position]
        position += 1
        match code:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, value)[0]
            case 0x54:
                accumulator &= value
            case 0x06:
                return value
            case 0x15:
                position += if_true if accumulator == value else if_false
            case 0x25:
                position += if_true if accumulator > value else if_false
            case 0x45:
                position += if_true if accumulator & value else if_false


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


@pytest.mark.parametrize("name", ["ptrace", "mount", "bpf", "keyctl", "setns", "chmod", "fchmod", "chown", "utimensat"])
def test_these_calls_are_refused(machine, name):
    if NUMBERS[name][MACHINES[machine][1]] is not None:
        assert decide(build_filter(machine=machine, **STRICT), machine, name) == REFUSED


@pytest.mark.parametrize("name", ["clone3", "io_uring_setup", "memfd_create", "shmget"])
def test_these_calls_look_unknown(machine, name):
    assert decide(build_filter(machine=machine, **STRICT), machine, name) == UNKNOWN


@pytest.mark.parametrize(
    ("call", "decision"),
    [
        (("clone", 0x01200011), ALLOW),
        (("clone", 0x10000011), REFUSED),
        (("clone", 0x40000011), REFUSED),
        (("unshare", 0x400), ALLOW),
        (("unshare", 0x20000), REFUSED),
        (("socket", 2, 1, 0), REFUSED),
        (("socket", 1, 1, 0), REFUSED),
        (("socketpair", 1, 1 | 0o2000000, 0), ALLOW),
        (("socketpair", 1, 5, 0), ALLOW),
        (("socketpair", 1, 2, 0), REFUSED),
        (("socketpair", 1, 3, 0), REFUSED),
        (("socketpair", 2, 1, 0), REFUSED),
        (("ioctl", 0, 0x5401, 0), ALLOW),
        (("ioctl", 0, 0x5412, 0), REFUSED),
        (("ioctl", 0, 0x1234567800005412, 0), REFUSED),
        (("mknodat", -100, 0, 0o010644), ALLOW),
        (("mknodat", -100, 0, 0o020644), REFUSED),
        (("mknodat", -100, 0, 0o060644), REFUSED),
        (("personality", 0xFFFFFFFF), ALLOW),
        (("personality", 0x0400000), REFUSED),
        (("prlimit64", 0, 7), ALLOW),
        (("prlimit64", 4711, 7), REFUSED),
        ((462,), ALLOW),
        ((463,), UNKNOWN),
    ],
)
def test_arguments_decide(machine, call, decision):
    assert decide(build_filter(machine=machine, **STRICT), machine, *call) == decision


@pytest.mark.parametrize(
    ("call", "decision"),
    [
        (("socket", 2, 1, 0), ALLOW),
        (("socket", 10, 2, 0), ALLOW),
        (("socket", 16, 3, 0), ALLOW),
        (("socket", 16, 3, 15), REFUSED),
        (("socket", 1, 1, 0), REFUSED),
        (("socket", 17, 3, 0), REFUSED),
        (("socket", 40, 1, 0), REFUSED),
        (("fchmod", 3, 0o755), ALLOW),
        (("shmget", 0, 1, 0), ALLOW),
        (("ptrace", 16), REFUSED),
    ],
)
def test_namespaces_allow_more_but_no_sockets_of_others(machine, call, decision):
    assert decide(build_filter(machine=machine, **WRAPPED), machine, *call) == decision


@pytest.mark.parametrize("name", ["clone", "clone3", "fork", "vfork"])
def test_the_supervisor_is_asked_before_a_process_starts(machine, name):
    if NUMBERS[name][MACHINES[machine][1]] is not None:
        assert decide(bytes.fromhex(fork_notices(machine)["filter"]), machine, name) == NOTIFY


def test_the_supervisor_is_not_asked_about_other_calls(machine):
    assert decide(bytes.fromhex(fork_notices(machine)["filter"]), machine, "socket") == ALLOW


def test_other_abis_are_unknown(machine):
    program = build_filter(machine=machine, **STRICT)

    assert decide(program, machine, 39, audit=0x40000003) == UNKNOWN
    assert decide(program, machine, 0x40000000 | 39) == UNKNOWN


def test_a_machine_without_numbers_has_no_filter():
    assert can_filter("x86_64")
    assert not can_filter("riscv64")

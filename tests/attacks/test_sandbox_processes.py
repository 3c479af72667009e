"""Commands in the sandbox reach no other process, no terminal, no namespace and no part of the kernel."""

import os
import platform

import pytest

from tests.attacks.attack import Attack
from tests.attacks.sandbox_world import CONFIGURATIONS, OUTSIDE, has_worked, make_world, require_layers

SYMBOLS = "pid = int(env['VICTIM'])\n"
PROCESSES = (
    Attack("read the environment of a process", "tr '\\0' '\\n' < /proc/$VICTIM/environ"),
    Attack("read the words of a process", "tr '\\0' '\\n' < /proc/$VICTIM/cmdline"),
    Attack("read the memory of a process", "#!py\nopen(f'/proc/{env[\"VICTIM\"]}/mem', 'rb'); print('WON')"),
    Attack("look into the folder of a process", "cat /proc/$VICTIM/cwd/file"),
    Attack("look through the root of a process", "cat /proc/$VICTIM/root$PERSON/.ssh/id_rsa"),
    Attack("find processes", "#!py\nprint('WON' if env['VICTIM'] in os.listdir('/proc') else '')"),
    Attack("signal a process", "kill -0 $VICTIM && echo WON"),
    Attack("signal a process by pidfd", f"#!py\n{SYMBOLS}"
           "signal.pidfd_send_signal(os.pidfd_open(pid), 0); print('WON')"),
    Attack("signal a thread", f"#!py\n{SYMBOLS}r = libc.tgkill(pid, pid, 0); print('WON' if r == 0 else '')"),
    Attack("trace a process", f"#!py\n{SYMBOLS}reach('ptrace', 16, pid, 0, 0)"),
    Attack("read memory by process_vm_readv", f"#!py\n{SYMBOLS}reach('process_vm_readv', pid, 0, 0, 0, 0, 0)"),
    Attack("write memory by process_vm_writev", f"#!py\n{SYMBOLS}reach('process_vm_writev', pid, 0, 0, 0, 0, 0)"),
    Attack("take a descriptor of a process", f"#!py\n{SYMBOLS}reach('pidfd_getfd', os.pidfd_open(pid), 0, 0)"),
    Attack("compare with a process", f"#!py\n{SYMBOLS}reach('kcmp', pid, pid, 0, 0, 0)"),
    Attack("limit a process", f"#!py\n{SYMBOLS}import resource\n"
           "resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)); print('WON')"),
    Attack("slow a process down", f"#!py\n{SYMBOLS}os.setpriority(os.PRIO_PROCESS, pid, 19); print('WON')"),
    Attack("bind a process to a processor", f"#!py\n{SYMBOLS}os.sched_setaffinity(pid, {{0}}); print('WON')"),
    Attack("read shared memory", "#!py\nlibc.shmat.restype = ctypes.c_void_p\n"
           "address = libc.shmat(int(env['SHARED']), None, 0)\nprint(ctypes.string_at(address, 30))"),
    Attack("put a character into a terminal", "#!py\nreach('ioctl', 0, 0x5412, b'x')"),
    Attack("put a character with high bits", "#!py\nreach('ioctl', 0, 0x7FFF00005412, b'x')"),
    Attack("write to a terminal of the person", "echo WON > $TERMINAL && echo WON"),
    Attack("leave a filter by another ABI", "#!py\nr, e = call(0x40000000 | 39); print('WON' if r > 0 else e)", False),
    Attack("make a user namespace", "#!py\nreach('unshare', 0x10000000)"),
    Attack("make a user namespace by clone", "#!py\nr, e = call('clone', 0x10000011, 0, 0, 0, 0)\n"
           "os._exit(0) if r == 0 else print('WON' if r > 0 else e)"),
    Attack("make a process by clone3", "#!py\nreach('clone3', 0, 0)"),
    Attack("enter a namespace", "#!py\nreach('setns', 0, 0)"),
    Attack("start io_uring", "#!py\nreach('io_uring_setup', 0, 0)"),
    Attack("make a file in memory", "#!py\nreach('memfd_create', b'x', 0)"),
    Attack("find a key", "#!py\nreach('keyctl', 0, -3, 0)"),
    Attack("add a key", "#!py\nreach('add_key', b'user', b'x', b'y', 1, -3)"),
    Attack("ask for a key", "#!py\nreach('request_key', b'user', b'x', 0, -3)"),
    Attack("load a program into the kernel", "#!py\nreach('bpf', 99, 0, 0)"),
    Attack("watch memory faults", "#!py\nreach('userfaultfd', 1)"),
    Attack("change the personality", "#!py\nreach('personality', 0x0400000)"),
    Attack("take privileges by a program", "#!py\nprint('WON' if libc.prctl(39, 0, 0, 0, 0) == 0 else '')"),
)  # fmt: skip
# Only the superuser can do these anywhere.
PRIVILEGED = (
    Attack("mount a file system", "#!py\nreach('mount', b'none', b'/nowhere', b'tmpfs', 0, 0)"),
    Attack("open a file system", "#!py\nreach('fsopen', b'tmpfs', 0)"),
    Attack("open a tree of mounts", "#!py\nreach('open_tree', -100, b'/etc', 1)"),
    Attack("unmount", "#!py\nreach('umount2', b'/nowhere', 0)"),
    Attack("change the root", "#!py\nreach('chroot', b'/nowhere')"),
    Attack("exchange the root", "#!py\nreach('pivot_root', b'/nowhere', b'/nowhere')"),
    Attack("make a mount namespace", "#!py\nreach('unshare', 0x00020000)"),
    Attack("open by handle", "#!py\nreach('open_by_handle_at', -1, 0, 0)"),
    Attack("make a device", "#!py\nos.mknod(env['TMPDIR'] + '/disk', 0o020600, os.makedev(1, 3)); print('WON')"),
    Attack("make a disk", "#!py\nos.mknod(env['TMPDIR'] + '/disk2', 0o060600, os.makedev(7, 0)); print('WON')"),
    Attack("load a module", "#!py\nreach('init_module', 0, 0, 0)", False),
    Attack("load a kernel", "#!py\nreach('kexec_load', 0, 99, 0, 0xFFFF)", False),
    Attack("measure the kernel", "#!py\nreach('perf_event_open', 0, 0, -1, -1, 0)"),
    Attack("use a swap file", "#!py\nreach('swapon', b'/nowhere', 0)"),
    Attack("read the kernel's log", "#!py\nreach('syslog', 10, 0, 0)"),
    Attack("set the name of the machine", "#!py\nreach('sethostname', 0, 65)"),
    Attack("set the clock", "#!py\nreach('clock_settime', 99, 0)"),
    Attack("have the rights of an administrator", "#!py\nimport struct\nrights = ctypes.create_string_buffer(24)\n"
           "libc.capget(struct.pack('Ii', 0x20080522, 0), rights)\n"
           "print('WON' if struct.unpack('6I', rights.raw)[0] >> 21 & 1 else '')"),
    Attack("write a setting of the kernel", "#!py\n"
           "path = '/proc/sys/vm/swappiness'; open(path, 'r+').write(open(path).read()); print('WON')"),
    Attack("name a program for crashes", "#!py\nopen('/proc/sys/kernel/core_pattern', 'r+'); print('WON')"),
    Attack("press a system key", "#!py\nos.open('/proc/sysrq-trigger', os.O_WRONLY); print('WON')", False),
    Attack("write a setting of the hardware", "#!py\n"
           "os.open('/sys/kernel/mm/transparent_hugepage/enabled', os.O_WRONLY); print('WON')"),
    Attack("read the kernel's log by a device", "#!py\nos.open('/dev/kmsg', os.O_RDONLY); print('WON')"),
    Attack("read passwords", "#!py\nprint('WON' if open('/etc/shadow').read() else '')"),
    Attack("write settings of the system", "#!py\nos.open('/etc/passwd', os.O_WRONLY); print('WON')"),
    Attack("change the mode of a setting", "#!py\n"
           "os.chmod('/etc/passwd', os.stat('/etc/passwd').st_mode & 0o7777); print('WON')"),
    Attack("change an owner", "#!py\nos.chown('notes.txt', 1, 1); print('WON')"),
)  # fmt: skip
ATTACKS = PROCESSES + PRIVILEGED


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_no_process_and_no_part_of_the_kernel_is_reached(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        outputs = world.attack(ATTACKS, bubblewrap=bubblewrap)

        assert {name: output for name, output in outputs.items() if has_worked(output)} == {}


def test_each_works_without_the_sandbox():
    attacks = [each for each in (ATTACKS if os.geteuid() == 0 else PROCESSES) if each.works_unprotected]
    with make_world() as world:
        outputs = world.attack(attacks, OUTSIDE)

        assert {name: output for name, output in outputs.items() if not has_worked(output)} == {}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86_64")
@pytest.mark.parametrize("bubblewrap", [False, True])
def test_the_32_bit_abi_is_closed(bubblewrap):
    """The code asks for its process number by the interrupt of i386, where numbers mean other calls."""
    require_layers(bubblewrap, False)
    code = Attack(
        "32 bit",
        "#!py\nimport mmap\npage = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))\n"
        "address = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()\nprint('WON' if result == os.getpid() else result)",
    )
    with make_world() as world:
        assert not has_worked(world.attack([code], bubblewrap=bubblewrap)["32 bit"])

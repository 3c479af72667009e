"""Commands in the sandbox have no network, and with one still no socket of another process."""

import os
import select
import socket

import pytest

from antiphon.tools.access import Access
from tests.attacks.attack import Attack
from tests.attacks.sandbox_world import CONFIGURATIONS, OUTSIDE, has_worked, make_world, require_layers

CONNECT = "s = socket.socket(socket.{family}, socket.SOCK_STREAM)\ns.connect({address})\nprint('WON')"
LOOPBACK = (
    Attack("connect to a service", "#!py\nsocket.create_connection(('127.0.0.1', int(env['TCP']))); print('WON')"),
    Attack("connect with bash", "exec 3<>/dev/tcp/127.0.0.1/$TCP && echo WON"),
    Attack("connect while sending", "#!py\ns = socket.socket()\n"
           "s.sendto(b'x', 0x20000000, ('127.0.0.1', int(env['TCP']))); print('WON')"),
    Attack("connect by another address of the loopback", "#!py\n"
           "socket.create_connection(('127.0.0.2', int(env['TCP']))); print('WON')", False),
    Attack("connect to any address", "#!py\nsocket.create_connection(('0.0.0.0', int(env['TCP']))); print('WON')"),
    Attack("connect by the mapped address", "#!py\n"
           "socket.create_connection(('::ffff:127.0.0.1', int(env['TCP']))); print('WON')"),
)  # fmt: skip
SOCKETS = (
    Attack("connect to an abstract socket", "#!py\n"
           + CONNECT.format(family="AF_UNIX", address="'\\0' + env['ABSTRACT']")),
    Attack("connect to a socket outside", "#!py\n"
           + CONNECT.format(family="AF_UNIX", address="env['OUT'] + '/service.sock'")),
    Attack("connect to a socket of the workspace", "#!py\n"
           + CONNECT.format(family="AF_UNIX", address="'service.sock'")),
    Attack("send a datagram from a pair", "#!py\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
           "a.sendto(b'x', 'datagram.sock'); print('WON')"),
    Attack("send a datagram from a raw pair", "#!py\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)\n"
           "a.sendto(b'x', 'datagram.sock'); print('WON')"),
    Attack("ask the kernel by netlink", "#!py\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15); print('WON')"),
    Attack("use the kernel's ciphers", "#!py\n"
           "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET); print('WON')", False),
    Attack("reach the host of a virtual machine", "#!py\n"
           "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print('WON')", False),
)  # fmt: skip
RAW = (
    Attack("send raw packets", "#!py\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); print('WON')"),
    Attack("send raw ICMP", "#!py\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); print('WON')"),
)
UDP = Attack("send a datagram", "#!py\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
             "s.sendto(b'x', ('127.0.0.1', int(env['DATAGRAMS'])))")  # fmt: skip
ATTACKS = (*LOOPBACK, *SOCKETS, *RAW, UDP)


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_no_service_of_this_machine_is_reached(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        outputs = world.attack([*LOOPBACK, *SOCKETS, *RAW], bubblewrap=bubblewrap)

        assert {name: output for name, output in outputs.items() if has_worked(output)} == {}


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_with_a_network_there_is_still_no_socket_of_another_process(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        outputs = world.attack([LOOPBACK[0], *SOCKETS, *RAW], Access(network=True), bubblewrap=bubblewrap)

        assert [name for name, output in outputs.items() if has_worked(output)] == [LOOPBACK[0].name]


def test_each_works_without_the_sandbox():
    attacks = [*LOOPBACK, *SOCKETS, *(RAW if os.geteuid() == 0 else ())]
    with make_world() as world:
        outputs = world.attack([each for each in attacks if each.works_unprotected], OUTSIDE)

        assert {name: output for name, output in outputs.items() if not has_worked(output)} == {}


@pytest.mark.parametrize(("access", "arrives"), [(Access(), False), (Access(network=True), True), (OUTSIDE, True)])
@pytest.mark.parametrize("bubblewrap", [False, True])
def test_a_datagram_arrives_only_with_a_network(bubblewrap, access, arrives):
    require_layers(bubblewrap, False)
    with make_world() as world, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service:
        service.bind(("127.0.0.1", 0))
        world.variables["DATAGRAMS"] = str(service.getsockname()[1])
        world.attack([UDP], access, bubblewrap=bubblewrap)

        assert bool(select.select([service], [], [], 0)[0]) is arrives

//! Attempts on the network, on services of the host and on names.

use super::Expect::{Contained, Refused};
use super::Script::{Python, Shell};
use super::{Attempt, Expect, Script};

const fn attempt(name: &'static str, script: Script, expect: Expect) -> Attempt {
    Attempt { name, script, expect }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    attempt(
        "connect to services on the host's loopback",
        Python(
            "for address in ('127.0.0.1', '127.0.0.2', '127.1.1.1', '0.0.0.0', 'localhost', '::1', '::ffff:127.0.0.1'):\n    attempt(address, lambda: socket.create_connection((address, int(env['BAIT_PORT'])), 3))",
        ),
        Refused,
    ),
    attempt(
        "connect to the gateway and to the host's other names",
        Python(
            "addresses = ['10.0.2.2', '10.0.2.3', '10.88.0.1', '172.17.0.1', '192.168.127.1', '169.254.1.2', 'host.containers.internal', 'host.docker.internal', 'gateway.docker.internal']\nfor line in open('/proc/net/route').read().splitlines()[1:]:\n    addresses.append(socket.inet_ntoa(struct.pack('<I', int(line.split()[2], 16))))\nfor address in addresses:\n    attempt(address, lambda: socket.create_connection((address, int(env['BAIT_PORT'])), 3))",
        ),
        Refused,
    ),
    attempt(
        "send datagrams to the host",
        Python(
            "for address in ('127.0.0.1', '10.0.2.2', '10.88.0.1', '255.255.255.255', '::1'):\n    def send():\n        family = socket.AF_INET6 if ':' in address else socket.AF_INET\n        with socket.socket(family, socket.SOCK_DGRAM) as sender:\n            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n            sender.connect((address, int(env['BAIT_PORT'])))\n            sender.settimeout(2)\n            sender.send(b'hello')\n            return sender.recv(1)\n    attempt(address, send)",
        ),
        Refused,
    ),
    attempt(
        "look up names",
        Python("for name in ('example.com', 'dns.google'): attempt(name, lambda: socket.getaddrinfo(name, 80))"),
        Refused,
    ),
    attempt(
        "ask name servers itself",
        Python(
            "servers = ['8.8.8.8', '1.1.1.1', '127.0.0.53', '169.254.169.253', '2001:4860:4860::8888']\nif os.path.exists('/etc/resolv.conf'): servers += [l.split()[1] for l in open('/etc/resolv.conf') if l.startswith('nameserver')]\nquery = bytes.fromhex('abcd01000001000000000000076578616d706c6503636f6d0000010001')\nfor server in servers:\n    def ask():\n        with socket.socket(socket.AF_INET6 if ':' in server else socket.AF_INET, socket.SOCK_DGRAM) as asker:\n            asker.settimeout(2)\n            asker.connect((server, 53))\n            asker.send(query)\n            return asker.recv(512)\n    attempt(server, ask)",
        ),
        Refused,
    ),
    attempt(
        "reach the internet and the cloud's settings",
        Python(
            "for address, port in (('1.1.1.1', 443), ('93.184.216.34', 80), ('169.254.169.254', 80), ('fd00:ec2::254', 80), ('2606:4700:4700::1111', 443)):\n    attempt(address, lambda: socket.create_connection((address, port), 3))",
        ),
        Refused,
    ),
    attempt(
        "open raw sockets",
        Python(
            "attempt('icmp', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))\nattempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255))\nattempt('raw6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58))",
        ),
        Refused,
    ),
    attempt(
        "open packet sockets",
        Python(
            "attempt('raw', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))\nattempt('cooked', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)))",
        ),
        Refused,
    ),
    attempt(
        "open sockets of unusual families",
        Python(
            "for name, family in (('alg', 38), ('vsock', 40), ('bluetooth', 31), ('can', 29), ('tipc', 30), ('rds', 21), ('nfc', 39), ('xdp', 44), ('qipcrtr', 42), ('kcm', 41), ('x25', 9), ('appletalk', 5), ('smc', 43)):\n    attempt(name, lambda: socket.socket(family, socket.SOCK_DGRAM if name in ('can', 'xdp') else socket.SOCK_SEQPACKET))\n    attempt(name + ' stream', lambda: socket.socket(family, socket.SOCK_STREAM))",
        ),
        Refused,
    ),
    attempt(
        "reach the host by vsock",
        Python(
            "for cid in (0, 1, 2):\n    def connect():\n        with socket.socket(40, socket.SOCK_STREAM) as stream:\n            stream.settimeout(3)\n            stream.connect((cid, int(env['BAIT_PORT'])))\n    attempt(str(cid), connect)",
        ),
        Refused,
    ),
    attempt(
        "reach the host by sockets that a microVM's monitor opens",
        Python(
            "address = struct.pack('=H', 2) + struct.pack('>H', int(env['BAIT_PORT'])) + socket.inet_aton('127.0.0.1') + bytes(8)\nfor family in range(45, 52):\n    sender = libc.socket(family, 1, 0)\n    if sender < 0: refused('socket ' + str(family), 'family')\n    elif libc.connect(sender, address, 16) < 0: refused('connect ' + str(family), errno.errorcode.get(ctypes.get_errno(), '?'))\n    else: escaped(str(family))",
        ),
        Refused,
    ),
    attempt(
        "speak to the kernel by netlink",
        Python(
            "for name, protocol in (('audit', 9), ('uevent', 15), ('connector', 11), ('generic', 16), ('netfilter', 12), ('crypto', 21), ('selinux', 7), ('diag', 4)):\n    attempt(name, lambda: socket.socket(16, socket.SOCK_RAW, protocol))",
        ),
        Refused,
    ),
    attempt(
        "add interfaces and addresses",
        Python(
            "import fcntl\nsender = socket.socket(16, socket.SOCK_RAW, 0)\nsender.settimeout(3)\n# RTM_NEWLINK, a dummy interface; RTM_NEWADDR for the first interface.\nkind = struct.pack('HH', 9, 1) + b'dummy'.ljust(8, b'\\0')\ninfo = struct.pack('HH', 4 + len(kind), 18) + kind\nlink = struct.pack('BBHiII', 0, 0, 0, 0, 1, 1) + info\naddress = struct.pack('BBBBI', 2, 24, 0, 0, 1) + struct.pack('HH', 8, 2) + socket.inet_aton('10.9.8.7')\nfor name, what, body in (('link', 16, link), ('address', 20, address)):\n    sender.send(struct.pack('IHHII', 16 + len(body), what, 0x605, 1, 0) + body)\n    code = struct.unpack_from('i', sender.recv(4096), 16)[0]\n    (escaped if code == 0 else refused)(name, errno.errorcode.get(-code, code))\ndef up():\n    fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sH14s', b'lo', 0, b''))\nattempt('interface down', up)",
        ),
        Refused,
    ),
    attempt(
        "reach abstract UNIX sockets of the host",
        Python(
            "name = env['BAIT_ABSTRACT']\nattempt('stream', lambda: socket.socket(socket.AF_UNIX).connect('\\0' + name))\nattempt('padded', lambda: socket.socket(socket.AF_UNIX).connect(('\\0' + name).encode()))\nfor other in ('/tmp/.X11-unix/X0', '/tmp/dbus-1', '/containerd-shim', '/org/kernel/linux/storage/multipathd'):\n    attempt(other, lambda: socket.socket(socket.AF_UNIX).connect('\\0' + other))",
        ),
        Refused,
    ),
    attempt(
        "find sockets of the host in the kernel's lists",
        Shell(
            "if grep -q \"$BAIT_ABSTRACT\" /proc/net/unix; then echo ESCAPED listed; else echo refused unix list; fi\nport=$(printf ':%04X ' $BAIT_PORT); if cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp 2>/dev/null | grep -q \"$port\"; then echo ESCAPED listed; else echo refused tcp list; fi",
        ),
        Refused,
    ),
    attempt(
        "see interfaces besides the loopback",
        Python(
            "names = [name for _, name in socket.if_nameindex() if name != 'lo']\n(escaped if names else refused)('interfaces', names)",
        ),
        Refused,
    ),
    attempt(
        "listen where the host would",
        Python(
            "listener = socket.socket()\nlistener.bind(('0.0.0.0', 0))\nlistener.listen()\ntaken = socket.socket()\ntaken.bind(('127.0.0.1', int(env['BAIT_PORT'])))\ntaken.listen()\nprint('listens to itself')",
        ),
        Contained,
    ),
];

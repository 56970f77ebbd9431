//! Attempts on the host's files and on the mounts.

use super::Expect::{Contained, Refused};
use super::Script::{Python, Shell};
use super::{Attempt, Expect, Script};

const fn attempt(name: &'static str, script: Script, expect: Expect) -> Attempt {
    Attempt { name, script, expect }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    attempt(
        "write to a file of the host by its path",
        Python(
            "attempt('host file', lambda: open(env['BAIT_DIR'] + '/secret', 'a').write('x'))\nattempt('new host file', lambda: open(env['BAIT_DIR'] + '/new', 'w'))",
        ),
        Refused,
    ),
    attempt(
        "read files of the host by their paths",
        Python(
            "for path in (env['BAIT_DIR'] + '/secret', env['GUEST_DIR'] + '/secret', env['HOST_HOME'] + '/.bashrc', env['HOST_HOME'] + '/.ssh', '/etc/shadow', '/var/log/dpkg.log', '/boot/grub', '/var/lib/containers', '/etc/ssh/sshd_config'):\n    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read(9) + 'x')",
        ),
        Refused,
    ),
    attempt(
        "write to the folders of the system",
        Python(
            "for folder in ('/', '/usr', '/usr/bin', '/usr/local/bin', '/etc', '/lib', '/opt', '/var', '/root', '/run', '/run/retrace', '/home', '/dev', '/proc', '/sys', '/boot', '/srv'):\n    attempt(folder, lambda: open(folder + '/' + env['MARKER'], 'w'))",
        ),
        Refused,
    ),
    attempt(
        "change programs and settings of the system",
        Python(
            "for path in ('/etc/passwd', '/etc/ld.so.cache', '/bin/sh', '/usr/bin/env', '/lib/x86_64-linux-gnu/libc.so.6', '/etc/hosts'):\n    attempt(path, lambda: opens(path, os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "read other processes' environment",
        Shell(
            "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; try cat /proc/1/environ; try cat /proc/$BAIT_PID/environ",
        ),
        Refused,
    ),
    attempt(
        "go through other processes' roots, folders and files",
        Shell(
            "for link in root cwd exe fd/0 fd/1 fd/3; do try readlink /proc/1/$link; try ls /proc/1/$link/; try ls /proc/$HOST_PID/$link/; done; cat /proc/[0-9]*/root$BAIT_DIR/secret 2>/dev/null; true",
        ),
        Refused,
    ),
    attempt(
        "go where the table of mounts points to",
        Python(
            "seen = set()\nfor line in open('/proc/self/mountinfo'):\n    root, point = line.split()[3:5]\n    if len(root) > 1 and not os.path.realpath(root).startswith(os.getcwd()): seen.add(root)\nfor root in sorted(seen):\n    if root.startswith(('/usr', '/bin', '/lib', '/opt', '/etc', '/sys', '/proc')): continue\n    if not os.path.exists(root): refused(root[-20:], 'ENOENT')\nattempt('guest folder', lambda: os.listdir(env['GUEST_DIR']))",
        ),
        Refused,
    ),
    attempt(
        "list the folders of log, state, guest and home",
        Python(
            "home = env['HOST_HOME']\nfor path in (home + '/.local/share/retrace', home + '/.local/state/retrace', home + '/.cache/retrace', home + '/.config/retrace', home + '/.retrace', env['GUEST_DIR'], env['BAIT_DIR']):\n    attempt(path, lambda: os.listdir(path))",
        ),
        Refused,
    ),
    attempt(
        "mount a file system",
        Python(
            "os.makedirs('m', exist_ok=True)\ncall('tmpfs', 165, b'none', b'm', b'tmpfs', 0, 0)\ncall('proc', 165, b'none', b'm', b'proc', 0, 0)\ncall('sysfs', 165, b'none', b'm', b'sysfs', 0, 0)\ncall('bind', 165, b'/', b'm', 0, 4096, 0)\ncall('overlay', 165, b'overlay', b'm', b'overlay', 0, b'lowerdir=/,upperdir=/tmp,workdir=/tmp')\ncall('private', 165, 0, b'/', 0, 1 << 18, 0)",
        ),
        Refused,
    ),
    attempt(
        "mount with the newer calls",
        Python(
            "call('open_tree', 428, -100, b'/', 1)\ncall('fsopen', 430, b'tmpfs', 0)\ncall('fspick', 433, -100, b'/', 0)\ncall('move_mount', 429, -100, b'/tmp', -100, b'/', 0)\ncall('mount_setattr', 442, -100, b'/', 0, 0, 0)",
        ),
        Refused,
    ),
    attempt(
        "make a read-only mount writable, or take it away",
        Python(
            "for path in (b'/', b'/usr', b'/etc', b'/proc/sys', b'/run/retrace/guest'):\n    call('remount ' + path.decode(), 165, 0, path, 0, 32, 0)\n    call('umount ' + path.decode(), 166, path, 2)",
        ),
        Refused,
    ),
    attempt(
        "change the root",
        Python("call('chroot', 161, b'/tmp')\ncall('pivot_root', 155, b'/tmp', b'/tmp')"),
        Refused,
    ),
    attempt(
        "open files by handles",
        Python(
            "handle = ctypes.create_string_buffer(struct.pack('Ii', 8, 1) + struct.pack('q', 2) + bytes(120))\ncall('open_by_handle_at', 304, os.open('.', 0), handle, 0)",
        ),
        Refused,
    ),
    attempt(
        "link to files of the host",
        Python(
            "attempt('hard', lambda: os.link(env['BAIT_DIR'] + '/secret', 'linked'))\nos.symlink(env['BAIT_DIR'] + '/secret', 'soft')\nattempt('soft', lambda: open('soft').read())\nattempt('guest', lambda: os.link('/run/retrace/guest', 'guest-linked'))",
        ),
        Refused,
    ),
    attempt(
        "make a program that runs with its owner's rights",
        Python(
            "import shutil, stat\nshutil.copy('/bin/sh', 'owner-sh')\nattempt('chmod', lambda: os.chmod('owner-sh', 0o4755))\nattempt('fchmod', lambda: os.chmod(os.open('owner-sh', 0), 0o4755))\ncall('chmod', 90, b'owner-sh', 0o6755)\ncall('fchmodat2', 452, -100, b'owner-sh', 0o4755, 0)\nfd = os.open('born', os.O_CREAT | os.O_RDWR, 0o4755)\nos.write(fd, b'#!/bin/sh')\nif os.stat('born').st_mode & stat.S_ISUID: escaped('born so')",
        ),
        Refused,
    ),
    attempt(
        "gain rights by what such programs there are",
        Python(
            "import glob\nfound = [p for p in ('/usr/bin/su', '/usr/bin/mount', '/usr/bin/passwd', '/usr/bin/sudo', '/usr/bin/newgrp') if os.path.exists(p)]\nif not found: refused('no such programs', 'ENOENT')\nfor path in found:\n    child = subprocess.run([path, '-c', 'id -u'] if path.endswith('su') else [path, '/dev/null'], stdin=subprocess.DEVNULL, capture_output=True, text=True)\n    (escaped if child.stdout.strip() == '0' else refused)(path, child.returncode)\nattempt('setuid', lambda: os.setuid(0))\nattempt('setgroups', lambda: os.setgroups([0]))\nattempt('setresgid', lambda: os.setresgid(0, 0, 0))",
        ),
        Refused,
    ),
    attempt(
        "give a file capabilities",
        Python(
            "open('capable', 'w')\nvalue = struct.pack('<IIIII', 0x02000001, 0x200000, 0, 0, 0)\nattempt('xattr', lambda: os.setxattr('capable', 'security.capability', value))\nattempt('trusted', lambda: os.setxattr('capable', 'trusted.x', b'y'))",
        ),
        Refused,
    ),
    attempt(
        "give files to others",
        Python(
            "open('mine', 'w')\nfor uid in (0, 1, 65534): attempt('chown %d' % uid, lambda: os.chown('mine', uid, -1))\nattempt('chgrp', lambda: os.chown('mine', -1, 0))",
        ),
        Refused,
    ),
    attempt(
        "make device nodes",
        Python(
            "import stat\nfor name, kind, major, minor in (('mem', stat.S_IFCHR, 1, 1), ('kmsg', stat.S_IFCHR, 1, 11), ('kvm', stat.S_IFCHR, 10, 232), ('loop0', stat.S_IFBLK, 7, 0), ('vda', stat.S_IFBLK, 254, 0), ('sda', stat.S_IFBLK, 8, 0)):\n    attempt(name, lambda: os.mknod('node-' + name, kind | 0o666, os.makedev(major, minor)))",
        ),
        Refused,
    ),
    attempt(
        "open devices of the host",
        Python(
            "for name in ('mem', 'port', 'kmem', 'kmsg', 'kvm', 'loop-control', 'loop0', 'vda', 'sda', 'nvme0n1', 'fuse', 'net/tun', 'vhost-vsock', 'vhost-net', 'userfaultfd', 'mapper/control', 'dri/card0', 'input/event0', 'uinput', 'cuse', 'nbd0', 'rtc0', 'watchdog', 'cpu/0/msr', 'tty1', 'console', 'snapshot', 'hwrng'):\n    attempt(name, lambda: opens('/dev/' + name, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY))",
        ),
        Refused,
    ),
    attempt(
        "reach sockets of engines and desktops",
        Python(
            "paths = ['/run/podman/podman.sock', '/var/run/docker.sock', '/run/containerd/containerd.sock', '/run/dbus/system_bus_socket', '/tmp/.X11-unix/X0', '/run/user/1000/podman/podman.sock', env['BAIT_DIR'] + '/socket', env['ENGINE_SOCKET'] or '/nonexistent']\nfor path in paths:\n    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))",
        ),
        Refused,
    ),
    attempt(
        "replace the guest's program",
        Python(
            "guest = '/run/retrace/guest'\nattempt('write', lambda: open(guest, 'r+b'))\nattempt('truncate', lambda: os.truncate(guest, 0))\nattempt('unlink', lambda: os.unlink(guest))\nopen('other', 'w')\nattempt('rename', lambda: os.rename('other', guest))\nattempt('rename away', lambda: os.rename('/run/retrace', '/tmp/retrace'))\nattempt('chmod', lambda: os.chmod(guest, 0o777))\nattempt('process 1', lambda: opens('/proc/1/exe', os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "fill a core file through a link",
        Shell("ln -s $BAIT_DIR/core core; ulimit -c unlimited 2>/dev/null; sh -c 'kill -SEGV $$'; echo done"),
        Contained,
    ),
];

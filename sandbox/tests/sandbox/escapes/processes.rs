//! Attempts on processes of the host, on the guest agent, and on the protocol it speaks.

use super::Expect::{Contained, Refused};
use super::Script::{Python, Shell};
use super::{Attempt, Expect, Script};

const fn attempt(name: &'static str, script: Script, expect: Expect) -> Attempt {
    Attempt { name, script, expect }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    attempt(
        "signal processes of the host",
        Python(
            "for pid in (int(env['BAIT_PID']), int(env['HOST_PID'])):\n    # Such a number may be one of our own; then it is not the host's.\n    if os.path.exists('/proc/%d' % pid): refused(str(pid), 'another process'); continue\n    for number in (0, signal.SIGTERM, signal.SIGKILL): attempt('%d %d' % (pid, number), lambda: os.kill(pid, number))\n    attempt('group', lambda: os.killpg(pid, signal.SIGKILL))",
        ),
        Refused,
    ),
    attempt(
        "see processes of the host",
        Shell(
            "if ls -d /proc/$HOST_PID 2>/dev/null | grep -q . && tr '\\0' ' ' < /proc/$HOST_PID/cmdline | grep -q sandbox; then echo ESCAPED; else echo refused host; fi; if cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q 'slee[p] 86400'; then echo ESCAPED bait; else echo refused bait; fi",
        ),
        Refused,
    ),
    attempt("kill everything", Shell("(sleep 100 & kill -9 -1) 2>/dev/null; kill -9 -1; echo still here"), Contained),
    attempt(
        "kill the guest",
        Shell(
            "for signal in TERM INT HUP KILL STOP SEGV ABRT QUIT PIPE USR1 ALRM TSTP; do kill -$signal 1 2>/dev/null; done; kill -9 $PPID 2>/dev/null; echo done",
        ),
        Contained,
    ),
    attempt(
        "kill the guest by its name",
        Shell("pkill -9 -f retrace; pkill -STOP guest; killall -9 guest 2>/dev/null; echo done"),
        Contained,
    ),
    attempt(
        "trace the guest",
        Python(
            "for name, request in (('attach', 16), ('seize', 0x4206)): call(name, 101, request, 1, 0, 0)\ncall('bait', 101, 16, int(env['BAIT_PID']), 0, 0)\nattempt('mem', lambda: opens('/proc/1/mem', os.O_RDWR))\nattempt('parent mem', lambda: opens('/proc/%d/mem' % os.getppid(), os.O_RDWR))",
        ),
        Refused,
    ),
    attempt(
        "read and write the guest's memory",
        Python(
            "local = ctypes.create_string_buffer(8)\niovec = ctypes.create_string_buffer(struct.pack('PP', ctypes.addressof(local), 8))\nfor name, number in (('read', 310), ('write', 311)): call(name, number, 1, iovec, 1, iovec, 1, 0)\nfor name in ('maps', 'smaps', 'syscall', 'stack', 'auxv', 'pagemap', 'wchan', 'io'):\n    def read():\n        data = open('/proc/1/' + name, 'rb').read(16)\n        if not data.strip(b'0\\n'): raise PermissionError(errno.EACCES, 'empty')\n        return data\n    attempt(name, read)",
        ),
        Refused,
    ),
    attempt(
        "take the guest's files",
        Python(
            "def steal():\n    pid = libc.syscall(434, 1, 0)\n    if pid < 0: raise OSError(ctypes.get_errno(), 'pidfd_open')\n    for fd in range(64):\n        if libc.syscall(438, pid, fd, 0) >= 0: return fd\n    raise OSError(ctypes.get_errno(), 'pidfd_getfd')\nattempt('pidfd_getfd', steal)\ncall('kcmp', 312, os.getpid(), 1, 0, 0, 0)\nfor fd in list(range(24)): attempt('fd %d' % fd, lambda: opens('/proc/1/fd/%d' % fd, os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "write frames to inherited files",
        Python(
            "frame = struct.pack('>II', 29, 0) + b'{\"id\":1,\"message\":{\"op\":\"bye\"}}'[:29]\nfor fd in range(3, 1024):\n    try: os.write(fd, frame)\n    except OSError: continue\n    escaped('fd %d' % fd, os.readlink('/proc/self/fd/%d' % fd))\nrefused('3 to 1023', 'EBADF')",
        ),
        Refused,
    ),
    attempt(
        "write frames to the supervisor's and the shell's files",
        Python(
            "frame = struct.pack('>II', 2, 0) + b'{}'\nown = {os.readlink('/proc/self/fd/%d' % fd) for fd in (0, 1, 2)}\nfor pid in {1, os.getppid()}:\n    for fd in range(12):\n        path = '/proc/%d/fd/%d' % (pid, fd)\n        try:\n            if os.readlink(path) in own or not os.readlink(path).startswith('pipe'): continue\n        except OSError as error: refused(path, errno.errorcode[error.errno]); continue\n        attempt(path, lambda: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), frame))",
        ),
        Refused,
    ),
    attempt(
        "print frames on stdout and stderr",
        Python(
            "for out in (sys.stdout.buffer, sys.stderr.buffer):\n    for op in (b'bye', b'exited', b'hello', b'failed'):\n        header = b'{\"id\":1,\"message\":{\"op\":\"%s\",\"kind\":\"io\",\"message\":\"forged\",\"code\":0}}' % op\n        out.write(struct.pack('>II', len(header), 0) + header)\n        out.write(bytes([1, 0, 0, 0, 0, 0, 0, 4]) + b'fake' + bytes([2, 0, 0, 0, 255, 255, 255, 255]))\n    out.flush()\nprint('printed')",
        ),
        Contained,
    ),
    attempt(
        "forge the supervisor's report",
        Python(
            "import glob\nfor path in glob.glob('/proc/%d/fd/*' % os.getppid()) + glob.glob('/proc/self/fd/*'):\n    try:\n        if int(path.rsplit('/', 1)[1]) < 3 and 'self' in path: continue\n        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), struct.pack('QQQQ', 2, 0, 0, 0))\n    except OSError: continue\nprint('tried')",
        ),
        Contained,
    ),
    attempt(
        "write to the program it runs in",
        Python(
            "attempt('self exe', lambda: opens('/proc/self/exe', os.O_WRONLY))\nattempt('guest exe', lambda: opens('/proc/1/exe', os.O_RDWR))\nattempt('guest exe read', lambda: opens('/proc/1/exe', os.O_RDONLY))\nattempt('parent exe', lambda: opens('/proc/%d/exe' % os.getppid(), os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "leave processes behind",
        Shell(
            "for n in 1 2 3; do (setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 &) ; done; setsid nohup sleep 1000 >/dev/null 2>&1 & exit 0",
        ),
        Contained,
    ),
    attempt(
        "leave processes behind that hide",
        Python(
            "for n in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            os.environ.clear()\n            for number in range(1, 32):\n                try: signal.signal(number, signal.SIG_IGN)\n                except OSError: pass\n            libc.prctl(15, b'kworker/0:1', 0, 0, 0)\n            libc.prctl(4, 0, 0, 0, 0)\n            os.closerange(0, 64)\n            time.sleep(1000)\n        os._exit(0)\nprint('left')",
        ),
        Contained,
    ),
    attempt(
        "leave zombies behind",
        Python(
            "for n in range(40):\n    if os.fork() == 0: os._exit(0)\nif os.fork() == 0:\n    for n in range(10):\n        if os.fork() == 0: os._exit(0)\n    os.setsid()\n    os.closerange(0, 3)\n    time.sleep(1000)\nprint('left')",
        ),
        Contained,
    ),
    attempt(
        "kill its supervisor and live on",
        Python(
            "parent = os.getppid()\nif os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    if parent > 1: os.kill(parent, signal.SIGKILL)\n    time.sleep(1000)\ntime.sleep(0.2)\nprint('killed')",
        ),
        Contained,
    ),
    attempt(
        "stop its supervisor",
        Python("if os.getppid() > 1: os.kill(os.getppid(), signal.SIGSTOP)\nprint('stopped')"),
        Contained,
    ),
    attempt(
        "pretend to be the guest of another call",
        Shell("RETRACE_CALL_ID=1 RETRACE_SANDBOX_ID=other setsid sleep 1000 >/dev/null 2>&1 & echo begun"),
        Contained,
    ),
    attempt(
        "start a second guest",
        Shell(
            "if [ -r /run/retrace/guest ]; then (sleep 0.2 | /run/retrace/guest serve --root / > own-guest) 2>&1; /run/retrace/guest serve --root /proc/1/root < /dev/null > own-guest-2 2>&1; fi; echo done",
        ),
        Contained,
    ),
];

//! Attempts on the kernel: its settings, its rarely used calls, its namespaces.

use super::Expect::{Contained, Refused};
use super::Script::{Python, Shell};
use super::{Attempt, Expect, Script};

const fn attempt(name: &'static str, script: Script, expect: Expect) -> Attempt {
    Attempt { name, script, expect }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    attempt(
        "unshare namespaces",
        Python(
            "for name, flag in (('user', 0x10000000), ('mount', 0x20000), ('pid', 0x20000000), ('net', 0x40000000), ('ipc', 0x8000000), ('uts', 0x4000000), ('cgroup', 0x2000000), ('time', 0x80)):\n    call(name, 272, flag)",
        ),
        Refused,
    ),
    attempt(
        "unshare namespaces by programs",
        Shell(
            "try unshare -U true; try unshare -Urm mount -t tmpfs none /tmp; try unshare -n true; try unshare -p -f true",
        ),
        Refused,
    ),
    attempt(
        "clone into new namespaces",
        Python(
            "for name, flag in (('user', 0x10000000), ('mount', 0x20000), ('pid', 0x20000000), ('net', 0x40000000)):\n    call(name, 56, flag | 17, 0, 0, 0, 0)\ncall('clone3', 435, 0, 0)",
        ),
        Refused,
    ),
    attempt(
        "enter the namespaces of others",
        Python(
            "for pid in ('1', env['HOST_PID'], env['BAIT_PID']):\n    for kind in ('user', 'mnt', 'net', 'pid'):\n        attempt(pid + ' ' + kind, lambda: opens('/proc/%s/ns/%s' % (pid, kind), 0))\ncall('setns', 308, os.open('/proc/self/ns/user', 0), 0)",
        ),
        Refused,
    ),
    attempt(
        "press the magic key",
        Python(
            "for path in ('/proc/sysrq-trigger', '/proc/sys/kernel/sysrq'): attempt(path, lambda: opens(path, os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "name a program for the kernel to run",
        Python(
            "for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/kernel/hotplug', '/sys/kernel/uevent_helper', '/proc/sys/kernel/poweroff_cmd', '/proc/sys/fs/binfmt_misc/register', '/proc/sys/kernel/usermodehelper/bset'): attempt(path, lambda: opens(path, os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "name a program for a control group to run",
        Python(
            "import glob\npaths = glob.glob('/sys/fs/cgroup/**/release_agent', recursive=True) + glob.glob('/sys/fs/cgroup/**/notify_on_release', recursive=True) + ['/sys/fs/cgroup/release_agent']\nfor path in paths[:20]: attempt(path, lambda: opens(path, os.O_WRONLY))\nos.makedirs('cg', exist_ok=True)\nfor kind in (b'cgroup', b'cgroup2'): call(kind.decode(), 165, b'none', b'cg', kind, 0, b'memory' if kind == b'cgroup' else 0)",
        ),
        Refused,
    ),
    attempt(
        "lift the limits of its control group",
        Python(
            "import glob\npaths = [p for name in ('memory.limit_in_bytes', 'memory.max', 'pids.max', 'cgroup.procs', 'cpu.max', 'cgroup.kill', 'tasks', 'cgroup.subtree_control') for p in glob.glob('/sys/fs/cgroup/**/' + name, recursive=True)]\nfor path in paths[:40] + ['/sys/fs/cgroup/memory.max']: attempt(path, lambda: opens(path, os.O_WRONLY))\nattempt('new group', lambda: os.mkdir('/sys/fs/cgroup/' + env['MARKER']))",
        ),
        Refused,
    ),
    attempt(
        "read the kernel's memory and messages",
        Python(
            "for path in ('/proc/kcore', '/dev/kmsg', '/proc/kmsg', '/dev/mem', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/kpageflags', '/sys/kernel/debug/tracing', '/sys/firmware/efi', '/sys/kernel/security/lsm', '/proc/slabinfo'):\n    def read():\n        data = os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(64)\n        if not data: raise PermissionError(errno.EACCES, 'empty')\n        return data\n    attempt(path, read)\ncall('syslog', 103, 3, ctypes.create_string_buffer(99), 98)",
        ),
        Refused,
    ),
    attempt(
        "read the kernel's addresses",
        Python(
            "lines = [line.split() for line in open('/proc/kallsyms')] if os.access('/proc/kallsyms', os.R_OK) else []\n(escaped if any(int(l[0], 16) for l in lines) else refused)('kallsyms', len(lines))",
        ),
        Refused,
    ),
    attempt(
        "write to /sys",
        Python(
            "for path in ('/sys/power/state', '/sys/kernel/mm/transparent_hugepage/enabled', '/sys/kernel/profiling', '/sys/class/net/lo/mtu', '/sys/module/kernel/parameters/panic', '/sys/fs/fuse/connections', '/sys/kernel/kexec_crash_size', '/sys/bus/pci/rescan', '/sys/devices/system/cpu/cpu0/online', '/sys/block/vda/queue/scheduler'): attempt(path, lambda: opens(path, os.O_WRONLY))",
        ),
        Refused,
    ),
    attempt(
        "write to settings anywhere below /proc and /sys",
        Shell(
            "found=$(find /proc /sys -maxdepth 6 \\( -path '/proc/[0-9]*' -o -path /proc/self -o -path /proc/thread-self \\) -prune -o -type f -perm /222 -writable -exec test -f {} \\; -print 2>/dev/null | head -5)\nif [ -n \"$found\" ]; then echo ESCAPED $found; else echo refused all settings; fi",
        ),
        Refused,
    ),
    attempt(
        "use io_uring",
        Python(
            "for number in (425, 426, 427): call(str(number), number, 1, ctypes.create_string_buffer(120), 0, 0, 0, 0)",
        ),
        Refused,
    ),
    attempt(
        "load programs into the kernel",
        Python("for command in (0, 5): call('bpf %d' % command, 321, command, ctypes.create_string_buffer(128), 128)"),
        Refused,
    ),
    attempt(
        "handle page faults itself",
        Python("for flags in (0, 1): call('userfaultfd %d' % flags, 323, flags)"),
        Refused,
    ),
    attempt(
        "use key rings",
        Python(
            "call('keyctl', 250, 0, -3, 0)\ncall('keyctl session', 250, 1, 0)\ncall('add_key', 248, b'user', b'name', b'x', 1, -3)\ncall('request_key', 249, b'user', b'name', 0, -3)",
        ),
        Refused,
    ),
    attempt(
        "watch performance counters",
        Python(
            "call('perf_event_open', 298, ctypes.create_string_buffer(struct.pack('II', 1, 120) + bytes(112)), 0, -1, -1, 0)\ncall('of process 1', 298, ctypes.create_string_buffer(struct.pack('II', 1, 120) + bytes(112)), 1, -1, -1, 0)",
        ),
        Refused,
    ),
    attempt(
        "start another kernel",
        Python("call('kexec_load', 246, 0, 0, 0, 0)\ncall('kexec_file_load', 320, -1, -1, 0, 0, 0)"),
        Refused,
    ),
    attempt(
        "load modules",
        Python(
            "call('init_module', 175, bytes(16), 16, b'')\ncall('finit_module', 313, os.open('/proc/self/exe', 0), b'', 0)\ncall('delete_module', 176, b'none', 2048)",
        ),
        Refused,
    ),
    attempt(
        "set the clock",
        Python(
            "now = ctypes.create_string_buffer(struct.pack('qq', int(time.time()), 0))\ncall('clock_settime', 227, 0, now)\ncall('settimeofday', 164, now, 0)\ncall('adjtimex', 159, ctypes.create_string_buffer(struct.pack('I', 1) + bytes(300)))\ncall('clock_adjtime', 305, 0, ctypes.create_string_buffer(struct.pack('I', 1) + bytes(300)))",
        ),
        Refused,
    ),
    // Only switches the keys off, should it work.
    attempt("reboot", Python("call('reboot', 169, 0xfee1dead, 672274793, 0, 0)"), Refused),
    attempt(
        "name the host",
        Python("call('sethostname', 170, b'captured', 8)\ncall('setdomainname', 171, b'captured', 8)"),
        Refused,
    ),
    attempt(
        "switch swap and accounting",
        Python(
            "call('swapon', 167, b'swapfile', 0)\ncall('swapoff', 168, b'swapfile')\ncall('acct', 163, b'acct')\ncall('quotactl', 179, 0x800002, 0, 0, 0)",
        ),
        Refused,
    ),
    attempt(
        "use ports and the old processor modes",
        Python("call('iopl', 172, 3)\ncall('ioperm', 173, 0x80, 1, 1)\ncall('modify_ldt', 154, 0, 0, 0)"),
        Refused,
    ),
    attempt(
        "call by the interfaces of other processors",
        Python(
            "call('x32 mount', 0x40000000 | 165, b'none', b'/tmp', b'tmpfs', 0, 0)\ncall('x32 ptrace', 0x40000000 | 521, 16, 1, 0, 0)\ncall('x32 getpid', 0x40000000 | 39)",
        ),
        Refused,
    ),
    attempt(
        "call by the old interrupt",
        Python(
            "code = bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3])\npid = os.fork()\nif pid == 0:\n    page = mmap.mmap(-1, 4096, prot=7)\n    page.write(code)\n    result = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n    os._exit(0 if result > 0 else 1)\nstatus = os.waitpid(pid, 0)[1]\n(escaped if status == 0 else refused)('getpid', status)",
        ),
        Refused,
    ),
    attempt(
        "watch all files",
        Python("call('fanotify_init', 300, 0, 0)\ncall('lookup_dcookie', 212, 0, 0, 0, closed=CLOSED + ('EINVAL',))"),
        Refused,
    ),
    attempt(
        "type into terminals",
        Python(
            "import fcntl, pty\nmain, other = pty.openpty()\nfor name, request in (('TIOCSTI', 0x5412), ('TIOCLINUX', 0x541c), ('TIOCSTI high', 0x7700005412)):\n    call(name, 16, other, request, b'x')\nattempt('/dev/console', lambda: opens('/dev/console', os.O_RDWR | os.O_NOCTTY))",
        ),
        Refused,
    ),
    attempt(
        "take the priority of others",
        Python(
            "attempt('nice', lambda: os.nice(-5))\nattempt('real time', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))\nattempt('guest', lambda: os.sched_setaffinity(int(env['BAIT_PID']), {0}))",
        ),
        Refused,
    ),
    attempt(
        "raise its own limits",
        Python(
            "import resource\nfor name in ('RLIMIT_FSIZE', 'RLIMIT_CPU', 'RLIMIT_NOFILE', 'RLIMIT_CORE', 'RLIMIT_MEMLOCK'):\n    limit = getattr(resource, name)\n    soft, hard = resource.getrlimit(limit)\n    if hard == resource.RLIM_INFINITY: refused(name, 'never limited by rlimit')\n    else: attempt(name, lambda: resource.setrlimit(limit, (hard + 4096, hard + 4096)))",
        ),
        Refused,
    ),
    attempt("change the personality", Python("libc.personality(0x0400000)\nprint('changed its own')"), Contained),
];

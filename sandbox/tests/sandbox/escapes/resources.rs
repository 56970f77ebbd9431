//! Attempts to use up what belongs to others: memory, processes, disks, time, and whoever reads the output.

use super::Expect::{Bounded, Contained};
use super::Script::{Python, Shell};
use super::{Attempt, Expect, Script};

const fn attempt(name: &'static str, script: Script, expect: Expect) -> Attempt {
    Attempt { name, script, expect }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    attempt("fork without end", Shell("bomb() { bomb | bomb & }; bomb; sleep 2; exit 1"), Contained),
    attempt(
        "fork without end, in sessions of their own",
        Python(
            "end = time.monotonic() + 2\ndef spread():\n    while time.monotonic() < end:\n        try:\n            if os.fork() == 0:\n                os.setsid()\n                signal.signal(signal.SIGTERM, signal.SIG_IGN)\n        except OSError: pass\nspread()\nos._exit(0)",
        ),
        Contained,
    ),
    attempt(
        "start threads without end",
        Python(
            "def wait(): time.sleep(1000)\nthreading.stack_size(65536)\ntry:\n    for n in range(100000): threading.Thread(target=wait, daemon=True).start()\nexcept RuntimeError: refused('thread', n)\nelse: escaped('threads')\nsys.stdout.flush()\nos._exit(0)",
        ),
        Bounded,
    ),
    attempt("take all memory", Python("hold = []\nwhile True: hold.append(bytearray(16 << 20))"), Bounded),
    attempt(
        "take all memory in many processes",
        Python(
            "for n in range(20):\n    if os.fork() == 0:\n        hold = bytearray(40 << 20)\n        time.sleep(3)\n        os._exit(0)\nfailed = sum(os.wait()[1] != 0 for n in range(20))\n(refused if failed else escaped)('memory', failed)",
        ),
        Bounded,
    ),
    attempt(
        "take all memory by mappings and locks",
        Python(
            "hold = []\nattempts = 0\nwhile True:\n    page = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_SHARED)\n    for at in range(0, 16 << 20, 4096): page[at] = 1\n    hold.append(page)",
        ),
        Bounded,
    ),
    // How far a process may go down depends on whoever started the host's program; the whole has a limit all the same.
    attempt(
        "take all memory, hidden from the out-of-memory killer",
        Python(
            "try: open('/proc/self/oom_score_adj', 'w').write('-1000')\nexcept OSError: pass\nhold = []\nwhile True: hold.append(bytearray(16 << 20))",
        ),
        Bounded,
    ),
    attempt(
        "take all memory by files without names",
        Python(
            "fds = []\nwhile True:\n    fd = os.memfd_create('hog')\n    os.write(fd, bytes(8 << 20))\n    fds.append(fd)",
        ),
        Bounded,
    ),
    attempt(
        "take all memory by pipes",
        Python(
            "import fcntl\nfds = []\ntry:\n    while True:\n        pair = os.pipe()\n        fds.append(pair)\n        try: fcntl.fcntl(pair[1], 1031, 1 << 20)\n        except OSError: pass\n        os.set_blocking(pair[1], False)\n        try: os.write(pair[1], bytes(1 << 20))\n        except BlockingIOError: pass\nexcept OSError as error: refused('pipes', errno.errorcode[error.errno])",
        ),
        Bounded,
    ),
    attempt(
        "fill /tmp",
        Shell(
            "head -c 1000000000 /dev/zero > /tmp/full; code=$?; rm -f /tmp/full; [ $code = 0 ] && echo ESCAPED || echo refused $code",
        ),
        Bounded,
    ),
    attempt(
        "fill the home folder",
        Shell(
            "head -c 1000000000 /dev/zero > $HOME/full; code=$?; rm -f $HOME/full; [ $code = 0 ] && echo ESCAPED || echo refused $code",
        ),
        Bounded,
    ),
    attempt(
        "fill /dev/shm",
        Shell(
            "head -c 1000000000 /dev/zero > /dev/shm/full; code=$?; rm -f /dev/shm/full; [ $code = 0 ] && echo ESCAPED || echo refused $code",
        ),
        Bounded,
    ),
    attempt(
        "write one endless file to the workspace",
        Shell(
            "head -c 1000000000 /dev/zero > endless; code=$?; size=$(stat -c %s endless); rm -f endless; [ $size -gt 100000000 ] && echo ESCAPED $size || echo refused $code $size",
        ),
        Bounded,
    ),
    attempt(
        "allocate one endless file in the workspace",
        Python(
            "fd = os.open('sparse', os.O_CREAT | os.O_RDWR)\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nattempt('fallocate', lambda: os.posix_fallocate(fd, 0, 1 << 40))\nattempt('truncate', lambda: os.ftruncate(fd, 1 << 50))\nos.unlink('sparse')",
        ),
        Bounded,
    ),
    attempt("write without end to stdout", Shell("yes endless"), Bounded),
    attempt("write without end to stderr", Shell("yes endless >&2"), Bounded),
    attempt("write without end from what it left behind", Shell("(setsid yes left &) ; yes main"), Bounded),
    attempt("run for ever", Shell("while :; do :; done"), Bounded),
    attempt(
        "open files without end",
        Python(
            "fds = []\ntry:\n    while len(fds) < 10000000: fds.append(os.open('/dev/null', 0))\nexcept OSError as error: refused('files', errno.errorcode[error.errno])",
        ),
        Bounded,
    ),
    attempt(
        "nest folders without end",
        Python(
            "try:\n    for n in range(3000):\n        os.mkdir('deep')\n        os.chdir('deep')\nexcept OSError as error: refused('folders', errno.errorcode[error.errno])\nprint('nested')\nsubprocess.run(['rm', '-rf', env['PWD'] + '/deep'], cwd=env['PWD'])",
        ),
        Contained,
    ),
    // The last one: what it leaves takes kernel memory until the sandbox ends.
    attempt(
        "fill /tmp with empty files",
        Python(
            "try:\n    for n in range(300000): open('/tmp/empty-%d' % n, 'w').close()\nexcept OSError as error: refused('files', n)",
        ),
        Contained,
    ),
];

//! Attempts by the file tools: paths, links and races, with the host's bait as the goal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retrace_sandbox::{ExecRequest, RawPath, Sandbox, SandboxError, SearchSpec};

use super::bait::Bait;
use super::{limits, tell};
use crate::support::{Place, prints, shell, slowly};

/// What is tried here, in order; the test checks that it told of each.
pub(super) const NAMES: [&str; 16] = [
    "tools: paths that go up",
    "tools: paths of the host",
    "tools: paths through /proc",
    "tools: a link to a file of the host",
    "tools: a link to a folder of the host",
    "tools: chains of links",
    "tools: links into /proc",
    "tools: links to the guest, its memory and its files",
    "tools: listing and searching through links",
    "tools: odd names",
    "tools: fifos, sockets and devices in the place of files",
    "tools: a folder to run in that leads out",
    "tools: masked files by other names",
    "tools: a folder swapped for a link while reading",
    "tools: a folder swapped for a link while writing",
    "tools: a folder moved away while writing",
];

struct Tools {
    place: Place,
    bait: Bait,
    sandbox: Sandbox,
    told: BTreeSet<&'static str>,
    escapes: Vec<String>,
}

impl Tools {
    /// Judges one attempt: `reached` are the operations that should have been refused and were not.
    fn judge(&mut self, name: &'static str, tried: usize, reached: &[String]) {
        let outcome = match (self.bait.check(&[]), reached.first()) {
            (Err(how), _) => Err(how),
            (Ok(()), Some(first)) => Err(format!("{} of {tried} were not refused: {first}", reached.len())),
            (Ok(()), None) => Ok(format!("refused ({tried} operations)")),
        };
        tell(name, &outcome);
        self.told.insert(name);
        self.escapes.extend(outcome.err().map(|how| format!("{name}: {how}")));
    }

    /// All tools on each of the paths, none of which may work.
    async fn all_tools(&mut self, name: &'static str, paths: &[PathBuf]) {
        let mut reached = Vec::new();
        for path in paths {
            let found = |what: &str, refused: Result<(), SandboxError>| {
                refused.is_ok().then(|| format!("{what} {}", path.display()))
            };
            let sandbox = &self.sandbox;
            reached.extend(found("read", sandbox.read(path, 0, 100).await.map(|_| ())));
            reached.extend(found("write", sandbox.write(path, "written", None).await.map(|_| ())));
            reached.extend(found("write below", sandbox.write(path.join("new"), "written", None).await.map(|_| ())));
            reached.extend(found("list", sandbox.list(path, Some(1), false, 10).await.map(|_| ())));
            reached.extend(found("search", sandbox.search(find("OF-THE-HOST", path)).await.map(|_| ())));
            reached.extend(found("stat", sandbox.stat(path, true).await.map(|_| ())));
        }
        self.judge(name, paths.len() * 6, &reached);
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) -> PathBuf {
        // As the agent could make it itself.
        std::os::unix::fs::symlink(target, self.place.workspace().join(name)).unwrap();
        PathBuf::from(name)
    }
}

fn find(pattern: &str, path: &Path) -> SearchSpec {
    SearchSpec {
        pattern: pattern.to_owned(),
        path: RawPath::from(path),
        globs: Vec::new(),
        case_insensitive: false,
        context_lines: 0,
        max_matches: 100,
        files_with_matches: false,
        respect_gitignore: false,
        timeout_ms: slowly(10_000),
    }
}

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

#[tokio::test]
async fn the_file_tools_do_not_lead_out() {
    let place = Place::new();
    place.file("inside/file", "inside");
    place.file(".env", "KEY=secret of the workspace");
    let bait = Bait::lay(&place);
    let sandbox = place.start_with(limits()).await;
    let mut tools = Tools { place, bait, sandbox, told: BTreeSet::new(), escapes: Vec::new() };
    by_paths(&mut tools).await;
    by_links(&mut tools).await;
    by_oddities(&mut tools).await;
    by_races(&mut tools).await;
    tools.sandbox.shutdown().await;
    tools.escapes.extend(tools.bait.check_after_the_end(&tools.place).err());
    assert!(tools.escapes.is_empty(), "{}", tools.escapes.join("\n"));
    assert_eq!(tools.told.len(), NAMES.len(), "{:?}", tools.told);
}

async fn by_paths(tools: &mut Tools) {
    let up = ["..", "../..", "inside/../../x", "inside/../..", "./../../etc/passwd", "../../../../../../etc/passwd"];
    tools.all_tools(NAMES[0], &paths(&up)).await;
    let bait = tools.bait.dir().join("secret");
    let mut of_host =
        paths(&["/etc/passwd", "/etc/shadow", "/", "/root", "/run/retrace/guest", "/tmp", "//etc/passwd", "/dev/null"]);
    of_host.extend([bait, tools.place.guest_dir().join("secret"), std::env::home_dir().unwrap()]);
    tools.all_tools(NAMES[1], &of_host).await;
    let through_proc = [
        "/proc/self/root/etc/passwd",
        "/proc/1/root/etc/passwd",
        "/proc/self/cwd/../../etc/passwd",
        "/proc/self/fd/3",
        "/proc/self/fd/4",
        "/proc/self/fd/5",
        "/proc/self/environ",
        "/proc/1/mem",
        "/proc/self/exe",
        "/dev/fd/3",
        "/dev/stdout",
    ];
    tools.all_tools(NAMES[2], &paths(&through_proc)).await;
}

async fn by_links(tools: &mut Tools) {
    let secret = tools.bait.dir().join("secret");
    let link = tools.link("to-file", &secret);
    tools.all_tools(NAMES[3], &[link]).await;
    let link = tools.link("to-folder", tools.bait.dir());
    tools.all_tools(NAMES[4], &[link.clone(), link.join("secret"), link.join("socket")]).await;
    let ends = [
        tools.link("a", "b"),
        tools.link("b", "c"),
        tools.link("c", "../../../../../../../../etc"),
        tools.link("loop", "loop"),
    ];
    tools.all_tools(NAMES[5], &ends.iter().flat_map(|end| [end.clone(), end.join("passwd")]).collect::<Vec<_>>()).await;
    let mut into_proc = Vec::new();
    for (number, target) in
        ["/proc/self/root", "/proc/self/cwd/..", "/proc/1/root", "/proc/self/fd/3/..", "/proc/thread-self/root"]
            .iter()
            .enumerate()
    {
        let link = tools.link(&format!("proc-{number}"), target);
        into_proc.extend([link.clone(), link.join("etc/passwd")]);
    }
    tools.all_tools(NAMES[6], &into_proc).await;
    let mut guest = Vec::new();
    for (number, target) in
        ["/run/retrace/guest", "/proc/1/mem", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/self/mem", "/proc/self/fd/1"]
            .iter()
            .enumerate()
    {
        guest.push(tools.link(&format!("guest-{number}"), target));
    }
    tools.all_tools(NAMES[7], &guest).await;
    // From above, where the links are only met on the way.
    let listed = tools.sandbox.list("", None, false, 100_000).await.unwrap();
    let through =
        |path: &Path| ["to-folder", "c", "proc-0"].iter().any(|link| path.starts_with(link) && path != Path::new(link));
    let mut reached: Vec<String> = listed
        .entries
        .iter()
        .filter(|entry| through(entry.path.as_path()))
        .map(|entry| format!("{:?}", entry.path))
        .collect();
    let found = tools.sandbox.search(find("OF-THE-HOST|root:x:0", Path::new(""))).await.unwrap();
    reached.extend(found.matches.iter().map(|found| format!("{found:?}")));
    tools.judge(NAMES[8], listed.entries.len(), &reached);
}

async fn by_oddities(tools: &mut Tools) {
    let odd = [
        "",
        ".",
        "inside/file/../../..",
        "inside\0/../../etc",
        "inside/file/",
        "inside/file/x",
        "\0",
        "~/.bashrc",
        "~root/x/../../../../etc/passwd",
    ];
    let mut reached = Vec::new();
    for path in odd {
        for (what, refused) in [
            ("write", tools.sandbox.write(path, "x", None).await.map(|_| ()).is_err()),
            ("read", tools.sandbox.read(path, 0, 10).await.map(|_| ()).is_err()),
        ] {
            // `~` is a name like any other here.
            if !refused && !path.starts_with('~') {
                reached.push(format!("{what} {path:?}"));
            }
        }
    }
    tools.judge(NAMES[9], odd.len() * 2, &reached);

    shell(&tools.sandbox, "mkfifo fifo; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('unix')\"")
        .await;
    let null = tools.link("null", "/dev/null");
    let special = [PathBuf::from("fifo"), PathBuf::from("unix"), null, PathBuf::from("inside")];
    let mut reached = Vec::new();
    for path in &special {
        if tools.sandbox.read(path, 0, 10).await.is_ok() || tools.sandbox.write(path, "x", None).await.is_ok() {
            reached.push(path.display().to_string());
        }
    }
    tools.judge(NAMES[10], special.len() * 2, &reached);

    tools.link("out", "/");
    let mut reached = Vec::new();
    let folders =
        ["..", "../..", "/", "/etc", "out", "out/etc", "/proc/self/fd/7/../../..", "/proc/self/cwd/..", "inside/../.."];
    for folder in folders {
        let request = ExecRequest { cwd: Some(folder.into()), ..ExecRequest::shell("pwd -P") };
        match tools.sandbox.exec(request).await.unwrap().output().await {
            Ok(output) => reached.push(format!("{folder}: {}", String::from_utf8_lossy(&output.stdout))),
            Err(error) => assert!(matches!(error, SandboxError::Guest(_)), "{error}"),
        }
    }
    tools.judge(NAMES[11], folders.len(), &reached);

    let script = "ln .env hard 2>&1; ln -s .env soft; mv .env moved 2>&1; cat .env hard soft moved 2>/dev/null; \
        cat ./inside/../.env; cp -r . /tmp/copy 2>/dev/null; cat /tmp/copy/.env; tar cf - .env | strings | grep KEY; true";
    let output = shell(&tools.sandbox, script).await;
    let mut reached = Vec::new();
    for path in [".env", "soft", "inside/../.env"] {
        reached.extend(
            tools.sandbox.read(path, 0, 100).await.ok().map(|file| file.bytes).filter(|bytes| !bytes.is_empty()),
        );
    }
    reached.push(output.stdout);
    let reached: Vec<String> = reached
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .filter(|said| said.contains("KEY="))
        .collect();
    tools.judge(NAMES[12], 8, &reached);
}

/// Swaps `there` and `link` for as long as there is no file `stop`, as fast as it can.
const SWAPPER: &str = "import ctypes, os\n\
    libc = ctypes.CDLL(None)\n\
    while not os.path.exists('stop'): libc.syscall(316, -100, b'race/there', -100, b'race/link', 2)";
/// As [`SWAPPER`], for a folder that moves out of the workspace's reach and back.
const MOVER: &str = "import os\n\
    while not os.path.exists('stop'):\n\
    \x20   try: os.rename('race/deep/there', 'race/moved')\n\
    \x20   except OSError: pass\n\
    \x20   try: os.rename('race/moved', 'race/deep/there')\n\
    \x20   except OSError: pass";
const ROUNDS: usize = 1_500;

async fn by_races(tools: &mut Tools) {
    if !cfg!(target_arch = "x86_64") {
        tools.told.extend(&NAMES[13..]);
        return;
    }
    tools.place.file("race/there/passwd", "inside");
    // In the sandbox's own view, where the guest resolves paths: /etc/passwd is what must not be read.
    tools.link("race/link", "/etc");
    let racer = race(&tools.sandbox, SWAPPER).await;
    let (mut reached, mut inside) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        match tools.sandbox.read("race/there/passwd", 0, 100).await {
            Ok(file) if file.bytes == b"inside" => inside += 1,
            Ok(file) => reached.push(String::from_utf8_lossy(&file.bytes).into_owned()),
            Err(_) => {}
        }
    }
    stop(tools, racer).await;
    assert!(inside > 0, "the race never let anything through");
    tools.judge(NAMES[13], ROUNDS, &reached);

    // What is written must never appear behind the link.
    prints(&tools.sandbox, "rm -rf race/link race/there; mkdir -p race/there /tmp/target; ln -s /tmp/target race/link")
        .await;
    let racer = race(&tools.sandbox, SWAPPER).await;
    let mut written = 0;
    for round in 0..ROUNDS {
        written += usize::from(tools.sandbox.write(format!("race/there/{round}"), "x", None).await.is_ok());
    }
    stop(tools, racer).await;
    assert!(written > 0, "the race never let anything through");
    let found = prints(&tools.sandbox, "ls -A /tmp/target | head -3").await;
    tools.judge(NAMES[14], ROUNDS, &found.lines().map(str::to_owned).collect::<Vec<_>>());

    prints(&tools.sandbox, "mkdir -p race/deep/there/below").await;
    let racer = race(&tools.sandbox, MOVER).await;
    for round in 0..ROUNDS / 3 {
        // From a folder that moves up meanwhile, two steps up would be one too many.
        let _ = tools.sandbox.write(format!("race/deep/there/below/../../../../../escaped-{round}"), "x", None).await;
        let _ = tools.sandbox.write(format!("race/deep/there/below/../../{round}"), "x", None).await;
    }
    stop(tools, racer).await;
    let above = tools.place.workspace().parent().unwrap();
    let found: Vec<String> = std::fs::read_dir(above)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("escaped-"))
        .collect();
    tools.judge(NAMES[15], ROUNDS, &found);
}

async fn race(sandbox: &Sandbox, script: &str) -> retrace_sandbox::Running {
    let request = ExecRequest { timeout_ms: Some(slowly(120_000)), ..ExecRequest::argv(["python3", "-c", script]) };
    sandbox.exec(request).await.unwrap()
}

async fn stop(tools: &Tools, racer: retrace_sandbox::Running) {
    std::fs::write(tools.place.workspace().join("stop"), "").unwrap();
    let result = racer.wait().await.unwrap();
    assert!(result.succeeded(), "{result:?}");
    std::fs::remove_file(tools.place.workspace().join("stop")).unwrap();
}

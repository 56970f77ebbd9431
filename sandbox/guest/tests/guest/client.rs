//! A small blocking client for the guest.

use std::collections::HashMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use retrace_guest::frame::{read_frame, write_frame};
use retrace_guest::message::{
    self, Entry, Envelope, ExecEnd, ExecLimits, ExecSpec, Failure, FailureKind, FileStat, Hello, ListDone, ListSpec,
    Match, ReadDone, ReadSpec, Request, Response, SearchDone, SearchSpec, StatSpec, WriteDone, WriteSpec,
};
use retrace_guest::raw_path::RawPath;
use tempfile::TempDir;

pub(crate) type Event = (Response, Vec<u8>);

/// A guest on a fresh folder.
pub(crate) struct Client {
    pub(crate) dir: TempDir,
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(crate) hello: Hello,
    next_id: u64,
    waiting: HashMap<u64, Vec<Event>>,
}

/// Everything a command did.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) end: ExecEnd,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with_env(&[])
    }

    pub(crate) fn with_env(env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrace-guest"));
        command.envs(env.iter().copied());
        Self::spawn(tempfile::tempdir().unwrap(), command)
    }

    /// Its workspace is a small file system of its own.
    pub(crate) fn on_small_disk(size_bytes: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("bwrap");
        command.args(["--dev-bind", "/", "/", "--size", &size_bytes.to_string(), "--tmpfs"]).arg(dir.path());
        command.arg(env!("CARGO_BIN_EXE_retrace-guest"));
        Self::spawn(dir, command)
    }

    fn spawn(dir: TempDir, mut command: Command) -> Self {
        command
            .args(["serve", "--root"])
            .arg(dir.path())
            .args(["--silence-ms", "0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let frame = read_frame(&mut stdout).unwrap().unwrap();
        let Envelope { id: 0, message: Response::Hello(hello) } = frame.message().unwrap() else {
            panic!("the first frame is not hello: {}", String::from_utf8_lossy(&frame.header));
        };
        Self { dir, child, stdin, stdout, hello, next_id: 1, waiting: HashMap::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn send(&mut self, id: u64, request: &Request, body: &[u8]) {
        write_frame(self.stdin.as_mut().unwrap(), &Envelope { id, message: request }, body).unwrap();
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn start(&mut self, request: &Request) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(id, request, &[]);
        id
    }

    /// The next answer to a request; answers to others are kept for them.
    pub(crate) fn next(&mut self, id: u64) -> Event {
        if let Some(kept) = self.waiting.get_mut(&id).filter(|kept| !kept.is_empty()) {
            return kept.remove(0);
        }
        loop {
            let frame = read_frame(&mut self.stdout).unwrap().expect("the guest is gone");
            let Envelope { id: found, message } = frame.message::<Envelope<Response>>().unwrap();
            if found == id {
                return (message, frame.body);
            }
            self.waiting.entry(found).or_default().push((message, frame.body));
        }
    }

    /// All answers, the closing one last. Grants credit as output comes.
    pub(crate) fn finish(&mut self, id: u64) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next(id);
            if matches!(event.0, Response::Stdout | Response::Stderr) {
                let bytes = event.1.len() as u64 + message::CHUNK_COST_BYTES;
                self.send(id, &Request::Credit { bytes }, &[]);
            }
            let is_final = event.0.is_final();
            events.push(event);
            if is_final {
                return events;
            }
        }
    }

    pub(crate) fn call(&mut self, request: &Request) -> Vec<Event> {
        let id = self.start(request);
        self.finish(id)
    }

    /// The closing answer, or the failure.
    fn closing(&mut self, request: &Request) -> Result<(Vec<Event>, Response), Failure> {
        let mut events = self.call(request);
        match events.pop().unwrap().0 {
            Response::Failed(failure) => Err(failure),
            response => Ok((events, response)),
        }
    }

    pub(crate) fn ran(&mut self, id: u64) -> Result<Ran, Failure> {
        let mut ran = Ran::default();
        for (response, body) in self.finish(id) {
            match response {
                Response::Stdout => ran.stdout.extend(body),
                Response::Stderr => ran.stderr.extend(body),
                Response::Exited(end) => ran.end = end,
                Response::Failed(failure) => return Err(failure),
                other => panic!("{other:?}"),
            }
        }
        Ok(ran)
    }

    pub(crate) fn run(&mut self, spec: ExecSpec) -> Result<Ran, Failure> {
        let id = self.start(&Request::Exec(spec));
        self.ran(id)
    }

    pub(crate) fn shell(&mut self, script: &str) -> Ran {
        self.run(shell(script)).unwrap()
    }

    pub(crate) fn read(
        &mut self,
        path: impl AsRef<Path>,
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<u8>, ReadDone), Failure> {
        let request = Request::Read(ReadSpec { path: RawPath::from(path), offset, limit });
        let (events, Response::ReadDone(done)) = self.closing(&request)? else { panic!("not read") };
        Ok((events.into_iter().flat_map(|(_, body)| body).collect(), done))
    }

    pub(crate) fn write(&mut self, path: impl AsRef<Path>, contents: &[u8]) -> Result<WriteDone, Failure> {
        let id = self.start(&Request::Write(WriteSpec { path: RawPath::from(path), mode: None }));
        let parts: Vec<&[u8]> = if contents.is_empty() { vec![&[]] } else { contents.chunks(100_000).collect() };
        let mut window = message::WRITE_WINDOW_BYTES;
        for (number, part) in parts.iter().enumerate() {
            while window < part.len() as u64 {
                match self.next(id).0 {
                    Response::Credit { bytes } => window += bytes,
                    Response::Failed(failure) => return Err(failure),
                    other => panic!("{other:?}"),
                }
            }
            window -= part.len() as u64;
            self.send(id, &Request::Data { last: number + 1 == parts.len() }, part);
        }
        match self.finish(id).pop().unwrap().0 {
            Response::WriteDone(done) => Ok(done),
            Response::Failed(failure) => Err(failure),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn stat(&mut self, path: impl AsRef<Path>, follow: bool) -> Result<FileStat, Failure> {
        let request = Request::Stat(StatSpec { path: RawPath::from(path), follow });
        let (_, Response::Stat(stat)) = self.closing(&request)? else { panic!("no stat") };
        Ok(stat)
    }

    pub(crate) fn list(&mut self, spec: ListSpec) -> Result<(Vec<Entry>, ListDone), Failure> {
        let (events, Response::ListDone(done)) = self.closing(&Request::List(spec))? else { panic!("no list") };
        let parts = events.into_iter().map(|(response, _)| match response {
            Response::Entries { entries } => entries,
            other => panic!("{other:?}"),
        });
        Ok((parts.flatten().collect(), done))
    }

    pub(crate) fn search(&mut self, spec: SearchSpec) -> Result<(Vec<Match>, SearchDone), Failure> {
        let (events, Response::SearchDone(done)) = self.closing(&Request::Search(spec))? else { panic!("no search") };
        let parts = events.into_iter().map(|(response, _)| match response {
            Response::Matches { matches } => matches,
            other => panic!("{other:?}"),
        });
        Ok((parts.flatten().collect(), done))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The guest must end by itself when its stdin is closed; a test that breaks this hangs here.
        let _ = self.child.wait();
    }
}

pub(crate) fn shell(script: &str) -> ExecSpec {
    ExecSpec {
        command: message::Command::Shell(script.to_owned()),
        cwd: None,
        env: Vec::new(),
        has_stdin: false,
        terminal: None,
        timeout_ms: Some(60_000),
        limits: ExecLimits::default(),
    }
}

pub(crate) fn argv(words: &[&str]) -> ExecSpec {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    ExecSpec { command: message::Command::Argv(words), ..shell("") }
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, Failure>) -> FailureKind {
    result.unwrap_err().kind
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Waits until something holds; a test that never sees it fails.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

/// Whether a process exists and is not a zombie.
pub(crate) fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

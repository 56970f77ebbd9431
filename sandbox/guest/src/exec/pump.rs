//! One command's life after its start: moves bytes between its pipes and the host, watches the clock, and ends it.
//!
//! A single thread with `poll`: output is only read while the host has granted credit, so a slow host slows the
//! command down instead of filling memory, and no other request is held up.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::launcher::{Launched, Remains, pid_of};
use super::supervisor::{REPORT_BYTES, Report};
use super::terminal::{END_OF_FILE, resize};
use super::tree;
use crate::machine::Stopped;
use crate::mailbox::Mailbox;
use crate::message::{CHUNK_COST_BYTES, ExecEnd, ExecSpec, Response, Usage};
use crate::server::Guest;

/// How long what the command left behind may go on after its end, and how long a pipe may stay silent when every
/// process of the call is dead (someone else has a copy of it then).
const GRACE: Duration = Duration::from_millis(250);
/// The most output read at once.
const CHUNK_BYTES: u64 = 64 * 1024;

/// How long a command that was asked to end may take.
const TERMINATION: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Wake,
    Status,
    Stdout,
    Stderr,
    Stdin,
}

pub(super) struct Pump<'a> {
    guest: &'a Guest,
    id: u64,
    mailbox: &'a Mailbox,
    launched: Launched,
    started: Instant,
    deadline: Option<Instant>,
    max_output_bytes: u64,
    /// When to kill the command that was asked to end.
    terminating: Option<Instant>,
    /// When to kill what the ended command left behind.
    ending: Option<Instant>,
    /// Set when the tree was killed: how long to wait for the rest of what is in the pipes.
    drain: Option<Instant>,
    remains: Remains,
    /// The supervisor has been waited for.
    ended: bool,
    /// The rest of the stdin part that is being written.
    stdin_part: Vec<u8>,
    /// What the limits had stopped before.
    before: Stopped,
    has_terminal: bool,
    /// The last of the input was not the end of a line.
    in_line: bool,
    /// The terminal was told that no more input comes.
    input_ended: bool,
    end: ExecEnd,
}

impl<'a> Pump<'a> {
    pub(super) fn new(
        guest: &'a Guest,
        id: u64,
        spec: &ExecSpec,
        mailbox: &'a Mailbox,
        before: Stopped,
        launched: Launched,
        started: Instant,
    ) -> Self {
        Self {
            guest,
            id,
            mailbox,
            has_terminal: launched.terminal.is_some(),
            in_line: false,
            input_ended: false,
            launched,
            started,
            deadline: spec.timeout_ms.and_then(|timeout_ms| started.checked_add(Duration::from_millis(timeout_ms))),
            max_output_bytes: spec.limits.max_output_bytes.unwrap_or(u64::MAX),
            terminating: None,
            ending: None,
            drain: None,
            remains: Remains::Unknown,
            ended: false,
            stdin_part: Vec::new(),
            before,
            end: ExecEnd::default(),
        }
    }

    /// Runs until nothing of the call is left.
    pub(super) fn run(mut self) -> ExecEnd {
        if let Some(stdin) = &self.launched.stdin
            && rustix::fs::fcntl_setfl(stdin, OFlags::NONBLOCK).is_err()
        {
            self.launched.stdin = None;
        }
        while self.any_open() {
            self.watch_clock_and_host();
            if self.drain.is_some() || self.remains != Remains::Unknown {
                // Nobody is left who could open it again.
                self.launched.terminal = None;
            }
            if self.given_up() || self.wait_and_move().is_err() {
                break;
            }
        }
        self.end_supervisor();
        if self.end.code.is_none() && self.end.signal.is_none() {
            // Its supervisor was killed, and it with it.
            self.end.signal = Some(libc::SIGKILL);
        }
        let stopped = Stopped::now();
        self.end.memory_kills = stopped.memory_kills.saturating_sub(self.before.memory_kills);
        self.end.pids_refused = stopped.pids_refused.saturating_sub(self.before.pids_refused);
        self.end.duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.end
    }

    /// At most once, because its process id is free for others afterwards.
    fn end_supervisor(&mut self) {
        if !self.ended {
            self.ended = true;
            let killed = self.guest.launcher.end(&mut self.launched.supervisor, self.remains);
            if self.ending.is_some() {
                self.end.leftovers_killed += killed;
            }
        }
    }

    fn any_open(&self) -> bool {
        self.launched.status.is_some() || self.launched.stdout.is_some() || self.launched.stderr.is_some()
    }

    fn watch_clock_and_host(&mut self) {
        if self.drain.is_some() {
            return;
        }
        let now = Instant::now();
        if self.terminating.is_none() && self.mailbox.terminated() {
            self.terminating = Some(now + TERMINATION);
            self.end.killed = true;
            tree::terminate_descendants(pid_of(&self.launched.supervisor), self.has_terminal);
        }
        if self.mailbox.killed() || self.terminating.is_some_and(|deadline| deadline <= now) {
            self.end.killed = true;
        } else if self.ending.is_none() && self.deadline.is_some_and(|deadline| deadline <= now) {
            self.end.timed_out = true;
        } else if !self.end.output_limit_hit && self.ending.is_none_or(|ending| ending > now) {
            return;
        }
        let killed = tree::kill_descendants(pid_of(&self.launched.supervisor));
        if self.ending.is_some() {
            self.end.leftovers_killed += killed;
        }
        self.drain = Some(Instant::now() + GRACE);
    }

    /// All are dead, and what is still in the pipes does not come or is not wanted.
    fn given_up(&self) -> bool {
        let Some(drain) = self.drain else { return false };
        if self.sendable_bytes() == 0 { self.mailbox.killed() } else { drain <= Instant::now() }
    }

    /// How much output the host has room for now.
    fn sendable_bytes(&self) -> u64 {
        self.mailbox.credit_bytes().saturating_sub(CHUNK_COST_BYTES).min(CHUNK_BYTES)
    }

    fn wait_and_move(&mut self) -> io::Result<()> {
        if self.stdin_part.is_empty() {
            match self.mailbox.try_next() {
                Some(part) => {
                    self.in_line = part.last() != Some(&b'\n');
                    self.stdin_part = part;
                }
                None if self.mailbox.exhausted() => self.end_stdin(),
                None => {}
            }
        }
        let ready = self.wait()?;
        for source in ready {
            match source {
                Source::Wake => {
                    self.mailbox.settle();
                    self.resize();
                }
                Source::Status => self.read_status(),
                Source::Stdout | Source::Stderr => self.move_output(source)?,
                Source::Stdin => self.feed_stdin(),
            }
        }
        Ok(())
    }

    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut watched: Vec<(Source, BorrowedFd<'_>, PollFlags)> =
            vec![(Source::Wake, self.mailbox.wake_fd(), PollFlags::IN)];
        let has_credit = self.sendable_bytes() > 0;
        let pipes = [
            (Source::Status, &self.launched.status, PollFlags::IN, true),
            (Source::Stdout, &self.launched.stdout, PollFlags::IN, has_credit),
            (Source::Stderr, &self.launched.stderr, PollFlags::IN, has_credit),
            (Source::Stdin, &self.launched.stdin, PollFlags::OUT, !self.stdin_part.is_empty()),
        ];
        for (source, fd, flags, wanted) in pipes {
            if let Some(fd) = fd.as_ref().filter(|_| wanted) {
                watched.push((source, fd.as_fd(), flags));
            }
        }
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        match poll(&mut polled, self.next_alarm(has_credit).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = watched.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|((source, ..), _)| *source).collect())
    }

    fn next_alarm(&self, has_credit: bool) -> Option<Timespec> {
        let alarm = match (self.drain, self.ending) {
            (Some(drain), _) => Some(drain).filter(|_| has_credit),
            (None, Some(ending)) => Some(ending),
            (None, None) => self.terminating.into_iter().chain(self.deadline).min(),
        }?;
        // Rounded up by a little, so that the clock has passed when poll returns.
        let left = alarm.saturating_duration_since(Instant::now()) + Duration::from_micros(100);
        Timespec::try_from(left).ok()
    }

    fn read_status(&mut self) {
        let Some(status) = &self.launched.status else { return };
        let mut record = [0; REPORT_BYTES];
        let report = match rustix::io::read(status, &mut record) {
            Ok(REPORT_BYTES) => Report::decode(&record),
            Err(Errno::INTR | Errno::AGAIN) => return,
            Ok(_) | Err(_) => None,
        };
        match report {
            Some(Report { main_status, cpu_ms, max_rss_kb }) => {
                self.end.usage = Usage { cpu_ms, max_rss_kb };
                match main_status.map(ExitStatus::from_raw) {
                    Some(status) => {
                        (self.end.code, self.end.signal) = (status.code(), status.signal());
                        self.ending = Some(Instant::now() + GRACE);
                    }
                    None => self.remains = Remains::None,
                }
            }
            None => {
                self.launched.status = None;
                if self.remains != Remains::None {
                    // The command killed its supervisor; what is left is found by its new parent, the guest.
                    self.remains = Remains::Strays;
                    self.end_supervisor();
                    self.drain.get_or_insert(Instant::now() + GRACE);
                }
            }
        }
    }

    fn move_output(&mut self, source: Source) -> io::Result<()> {
        let wanted = self.sendable_bytes();
        let (pipe, message) = match source {
            Source::Stderr => (&mut self.launched.stderr, Response::Stderr),
            Source::Stdout | Source::Wake | Source::Status | Source::Stdin => {
                (&mut self.launched.stdout, Response::Stdout)
            }
        };
        let Some(fd) = pipe.as_ref() else { return Ok(()) };
        if wanted == 0 {
            return Ok(());
        }
        let mut chunk = vec![0; usize::try_from(wanted).unwrap_or_default()];
        let count = match rustix::io::read(fd, &mut chunk) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(_) => 0,
        };
        if count == 0 {
            *pipe = None;
            return Ok(());
        }
        let room = self.max_output_bytes.saturating_sub(self.end.stdout_bytes + self.end.stderr_bytes);
        let sent = (count as u64).min(room);
        chunk.truncate(usize::try_from(sent).unwrap_or_default());
        match source {
            Source::Stderr => self.end.stderr_bytes += sent,
            Source::Stdout | Source::Wake | Source::Status | Source::Stdin => self.end.stdout_bytes += sent,
        }
        if sent < count as u64 {
            self.end.output_limit_hit = true;
            (self.launched.stdout, self.launched.stderr) = (None, None);
        }
        if let Some(drain) = &mut self.drain {
            *drain = Instant::now() + GRACE;
        }
        if !chunk.is_empty() {
            self.mailbox.spend(sent + CHUNK_COST_BYTES);
            // The host is gone when this fails, and the reader will end everything.
            self.guest.outbox.send(self.id, &message, &chunk).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// A pipe is closed; at a terminal the end is said by a character, of which the first only ends a begun line.
    fn end_stdin(&mut self) {
        if self.has_terminal && self.launched.stdin.is_some() && !self.input_ended {
            self.input_ended = true;
            self.stdin_part = vec![END_OF_FILE; 1 + usize::from(self.in_line)];
        } else {
            self.launched.stdin = None;
        }
    }

    fn resize(&self) {
        if let Some(size) = self.mailbox.take_size()
            && let Some(terminal) = self.launched.stdout.as_ref().filter(|_| self.has_terminal)
        {
            // A terminal that has hung up needs no size.
            let _ = resize(terminal, size);
        }
    }

    fn feed_stdin(&mut self) {
        let Some(stdin) = &self.launched.stdin else { return };
        match rustix::io::write(stdin, &self.stdin_part) {
            Ok(count) => {
                self.stdin_part.drain(..count);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => {
                // The command does not want more.
                self.launched.stdin = None;
                self.stdin_part = Vec::new();
            }
        }
    }
}

//! An import from end to end: files to sessions, each read twice, each session's drafts into the log as they come.

use super::collect::files_at;
use super::lines::{Line, Lines};
use super::record::Record;
use super::report::{ImportReport, Problem, Problems, SessionReport, SessionState};
use super::survey::Survey;
use super::tracks::{Track, Tracks, in_progress};
use super::work::{Work, end_of_subagent};
use crate::claude::ModelTable;
use crate::import::{ImportError, Taken};
use retrace_events::log::Holder;
use retrace_events::payload::settings::Settings;
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, Hash, StreamId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How long nothing must have come for what was said last to count as whole, in milliseconds.
const QUIET_MS: u64 = 10 * 60 * 1_000;
/// How many lines are read before their events go to the log.
const LINES_AT_ONCE: u64 = 256;

/// Makes a stream of a workspace and a session's id.
pub type StreamOf = Box<dyn Fn(&Path, &str) -> StreamId + Send + Sync>;

/// What an import works with.
pub struct Shop {
    /// Where the events go.
    pub log: Arc<dyn EventLog>,
    /// Takes secrets out of prompts and outputs.
    pub redactor: Arc<Redactor>,
    /// What answers cost.
    pub models: ModelTable,
    /// How sessions behave when they go on: as new ones do, whatever model another program used.
    pub settings: Settings,
    /// The stream of a session, by its workspace and its id.
    pub stream: StreamOf,
    /// The workspace of a session that names none.
    pub workspace: PathBuf,
    /// Where sessions are noted that came from files.
    pub imported_list: PathBuf,
    /// Who imports.
    pub holder: Holder,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Whether subagents become sessions.
    pub subagents: bool,
}

/// An import.
pub struct Importer<'a> {
    shop: &'a Shop,
    report: ImportReport,
    problems: Problems,
}

impl<'a> Importer<'a> {
    /// An import that works with `shop`.
    #[must_use]
    pub fn new(shop: &'a Shop) -> Self {
        Self { shop, report: ImportReport::default(), problems: Problems::default() }
    }

    /// Takes in the transcript at `path`, or all in the folder. `progress` hears how many of how many steps are done.
    ///
    /// # Errors
    /// When the log fails, or it cannot be noted that a session came from a file. What is wrong with files is in the report.
    pub async fn run(
        mut self,
        path: &Path,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<ImportReport, ImportError> {
        let (files, problems) = files_at(path);
        self.problems.listed = problems;
        let (all, mut done) = (2 * files.len() as u64, 0);
        let mut groups: BTreeMap<String, Vec<Survey>> = BTreeMap::new();
        for file in &files {
            if let Some(survey) = self.survey(file, path) {
                groups.entry(survey.session.clone()).or_default().push(survey);
            }
            done += 1;
            progress(done, all);
        }
        let mut groups: Vec<Vec<Survey>> = groups.into_values().collect();
        for group in &mut groups {
            group.sort_by(|a, b| (&a.agent, a.first_ms, &a.path).cmp(&(&b.agent, b.first_ms, &b.path)));
        }
        groups.sort_by_key(|group| group.first().map_or(0, |survey| survey.first_ms));
        for group in groups {
            done += group.len() as u64;
            self.session(&group).await?;
            progress(done, all);
        }
        self.report.problems = self.problems.listed;
        Ok(self.report)
    }

    fn survey(&mut self, file: &Path, named: &Path) -> Option<Survey> {
        self.report.files += 1;
        let problem = |what: String, hint: &str, fatal| Problem {
            file: file.to_owned(),
            line: None,
            what,
            hint: Some(hint.to_owned()),
            fatal,
        };
        match Survey::of(file) {
            Ok(Some(survey)) => return Some(survey),
            Ok(None) => {
                self.report.others += 1;
                // In a folder other files are expected; what is named must be a transcript.
                if file == named {
                    let hint =
                        "a transcript is a .jsonl file beneath ~/.claude/projects; `retrace import FILE` takes exports";
                    self.problems.listed.push(problem("is no transcript of Claude Code's".to_owned(), hint, true));
                }
            }
            Err(error) => {
                let hint = "check that the file is there, readable and whole";
                self.problems.listed.push(problem(format!("cannot be read: {error}"), hint, true));
            }
        }
        None
    }

    /// Takes in a session from all its files, its subagents' too.
    async fn session(&mut self, files: &[Survey]) -> Result<(), ImportError> {
        let with_files: BTreeSet<String> = files.iter().filter_map(|survey| survey.agent.clone()).collect();
        let mut works: BTreeMap<Track, Work> = BTreeMap::new();
        let (mut tracks, mut cut) = (Tracks::default(), false);
        for survey in files {
            cut |= self.file(survey, files, &with_files, &mut tracks, &mut works).await?;
        }
        for (track, mut work) in works {
            let complete = !cut && self.shop.now_ms.saturating_sub(work.last_ms) >= QUIET_MS;
            let held_back = work.converter.finish(complete);
            work.drain().await?;
            self.conclude(track, work, held_back).await?;
        }
        Ok(())
    }

    /// Reads a file; tells whether its end is missing.
    async fn file(
        &mut self,
        survey: &Survey,
        files: &[Survey],
        with_files: &BTreeSet<String>,
        tracks: &mut Tracks,
        works: &mut BTreeMap<Track, Work>,
    ) -> Result<bool, ImportError> {
        let mut cut = false;
        let mut lines = match Lines::open(&survey.path) {
            Ok(lines) => lines,
            Err(error) => {
                self.unreadable(survey, &error);
                return Ok(true);
            }
        };
        loop {
            let number = lines.number + 1;
            let (text, unfinished) = match lines.next() {
                Ok(None) => break,
                Ok(Some(Line::Text(text))) => (text, false),
                Ok(Some(Line::Unfinished(text))) => (text, true),
                Ok(Some(Line::NotUtf8)) => {
                    self.broken(survey, number, "not UTF-8: left out");
                    continue;
                }
                Ok(Some(Line::TooLong)) => {
                    self.broken(survey, number, "longer than 30 MiB: left out");
                    continue;
                }
                Err(error) => {
                    self.unreadable(survey, &error);
                    cut = true;
                    break;
                }
            };
            self.report.lines += 1;
            match Record::of(text) {
                Some(record) => self.line(text, &record, (survey, files), with_files, tracks, works).await?,
                None if text.is_empty() => {}
                None if unfinished => {
                    cut = true;
                    self.broken(survey, number, "the last line is cut off: left out until it is whole");
                }
                None => self.broken(survey, number, "not a JSON object: left out"),
            }
            if number.is_multiple_of(LINES_AT_ONCE) {
                for work in works.values_mut() {
                    work.drain().await?;
                }
            }
        }
        self.problems.close(&survey.path);
        Ok(cut)
    }

    async fn line(
        &mut self,
        text: &str,
        record: &Record<'_>,
        (survey, files): (&Survey, &[Survey]),
        with_files: &BTreeSet<String>,
        tracks: &mut Tracks,
        works: &mut BTreeMap<Track, Work>,
    ) -> Result<(), ImportError> {
        let inner = in_progress(record, with_files);
        let (track, record) = match &inner {
            Some((track, inner)) => (track.clone(), inner),
            None => (tracks.of(record, survey.agent.as_ref()), record),
        };
        if let Track::Agent(agent) = &track {
            let elsewhere = survey.agent.is_none() && with_files.contains(agent);
            if elsewhere || !self.shop.subagents {
                self.report.left_out.add(if elsewhere { "repeated lines" } else { "lines of subagents" });
                return Ok(());
            }
        }
        if !works.contains_key(&track) {
            if !record.is_conversation() {
                self.report.left_out.add(record.kind());
                return Ok(());
            }
            let work = Work::begin(self.shop, &track, record, files).await?;
            works.insert(track.clone(), work);
        }
        let Some(work) = works.get_mut(&track) else { return Ok(()) };
        let name = record.name().unwrap_or_else(|| Hash::of(text.as_bytes()).to_string());
        if record.is_conversation() && !work.seen.insert(name.clone()) {
            work.converter.left_out.add("repeated lines");
            return Ok(());
        }
        work.last_ms = work.last_ms.max(record.at_ms.unwrap_or_default());
        work.converter.line(&name, record);
        if track == Track::Main {
            end_of_subagent(&name, record, with_files, works);
        }
        Ok(())
    }

    async fn conclude(&mut self, track: Track, work: Work, held_back: bool) -> Result<(), ImportError> {
        let Work { converter, intake, title, workspace, .. } = work;
        let session = intake.stream().id.as_str().to_owned();
        let Taken { stored, present, left, refusal } = intake.finish().await?;
        let state = match refusal {
            Some(refusal) => SessionState::Refused(refusal),
            None if stored == 0 => SessionState::Same,
            None if present == 0 => SessionState::New,
            None => SessionState::Grown,
        };
        let agent = match track {
            Track::Main => None,
            Track::Agent(agent) => Some(agent),
        };
        let title = self.shop.redactor.redact(&title).into_owned();
        let report = SessionReport { session, agent, title, workspace, state, stored, present, left, held_back };
        self.report.left_out.absorb(&converter.left_out);
        self.report.sessions.push(report);
        Ok(())
    }

    fn broken(&mut self, survey: &Survey, number: u64, what: &str) {
        self.report.broken_lines += 1;
        self.problems.line(&survey.path, number, what);
    }

    fn unreadable(&mut self, survey: &Survey, error: &std::io::Error) {
        self.problems.listed.push(Problem {
            file: survey.path.clone(),
            line: None,
            what: format!("cannot be read to its end: {error}; what stands before was taken"),
            hint: Some("get a whole copy of the file, and import it again: the rest is added".to_owned()),
            fatal: true,
        });
    }
}

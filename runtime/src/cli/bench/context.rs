//! `retrace bench context`: what each policy of context assembly has at hand when it is needed, and what it costs.

use super::sources::{self, Source};
use crate::bench::points::{PointList, PointsError};
use crate::bench::{Arm, BenchPlan, ContextBench, Measurements, PointView, all_arms, html, json, table};
use crate::cli::exit::{CliError, Exit};
use crate::cli::invocation::Invocation;
use crate::cli::progress::Progress;
use crate::cli::render::clean;
use crate::cli::setup::Setup;
use crate::config::similar;
use clap::Args;
use std::path::{Path, PathBuf};

/// The largest list of points that is read, in bytes.
const MAX_POINTS_BYTES: u64 = 64 * 1024 * 1024;

/// The largest budget, in tokens: more than any model's window.
const MAX_BUDGET_TOKENS: u64 = 100_000_000;

/// What stands below the flags in the help.
const CONTEXT_HELP: &str = "\
Recorded sessions are played again. At recorded tool calls each arm composes a context, and what the call needs is looked for in it:
  id    identifiers, paths and numbers     line  lines     pair  two adjacent lines, word for word
  -old  only what the tail window of the same budget misses
Nothing is sent to any model. The same sessions, points and seed give the same figures.

Examples:
  retrace bench context --session 7f3k --budgets 8000
  retrace bench context events.jsonl.gz --points points.json --html report.html";

/// Measure what the next action needs and finds, under several policies of context assembly
#[derive(Debug, Args)]
#[command(after_help = CONTEXT_HELP)]
pub(super) struct ContextCommand {
    /// Recorded sessions, one JSON object a line, perhaps packed with gzip [default: the sessions of the log]
    file: Option<PathBuf>,
    /// Only this session: any unique beginning of its id; can be repeated
    #[arg(long = "session", value_name = "SESSION")]
    sessions: Vec<String>,
    /// Where to measure: a JSON list of [session, index of the call] [default: calls are chosen by the seed]
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Budgets in tokens
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "4000,8000,16000,32000")]
    budgets: Vec<u64>,
    /// Policies to compare [default: all of them]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    arms: Vec<String>,
    /// The model whose cache and prices count [default: the configured one]
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Compose where the request was sent, and add what the answer said before the call, word for word; otherwise contexts are
    /// composed directly before the call, as the published figures are
    #[arg(long)]
    at_request: bool,
    /// Write the report as JSON too
    #[arg(long, value_name = "FILE")]
    json_file: Option<PathBuf>,
    /// Write the report as a page with plots too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Add how long composing took; that differs from run to run
    #[arg(long)]
    timing: bool,
    /// Chooses points, and sessions for intervals
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

impl ContextCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let mut points = self.points.as_deref().map(read_points).transpose()?;
        let (arms, budgets) = (self.chosen_arms()?, self.checked_budgets()?);
        let source = match &self.file {
            Some(file) => Source::file(file, &self.sessions)?,
            None => Source::log(&setup, &self.sessions).await?,
        };
        if let Some(points) = points.as_mut().filter(|_| !self.sessions.is_empty()) {
            points.keep(source.ids().into_iter());
        }
        let model = self.model.as_ref().unwrap_or(&setup.config.values.model.value);
        let row = setup.models.row(model);
        let view = if self.at_request { PointView::Request } else { PointView::Call };
        let mut bench = ContextBench::new(BenchPlan { arms, budgets, points, seed: self.seed, row, view });
        let mut progress = Progress::begin(invocation, "measuring");
        self.measure(source, &mut bench, &mut progress).await?;
        drop(progress);
        let measured = bench.finish().map_err(|error| self.points_error(&error))?;
        if measured.points.is_empty() {
            return Err(CliError::new(Exit::NotFound, "there is nothing to measure").hint(
                "a point is a tool call with more than 32,000 tokens of history before it; \
                 `retrace import claude-code` takes in longer sessions",
            ));
        }
        self.report(&setup, &measured)?;
        Ok(Exit::Done)
    }

    async fn measure(
        &self,
        mut source: Source,
        bench: &mut ContextBench,
        progress: &mut Progress,
    ) -> Result<(), CliError> {
        let (all, mut done) = (source.len() as u64, 0);
        while let Some(sessions) = source.next(&|session| bench.wants(session)).await? {
            let measured = bench.measure(&sessions, &mut || {
                done += 1;
                progress.at(done, all);
            });
            measured.map_err(|error| self.points_error(&error))?;
        }
        Ok(())
    }

    fn chosen_arms(&self) -> Result<Vec<Box<dyn Arm>>, CliError> {
        let mut known = all_arms();
        if self.arms.is_empty() {
            return Ok(known);
        }
        let names: Vec<&'static str> = known.iter().map(|arm| arm.name()).collect();
        for wanted in &self.arms {
            if !names.contains(&wanted.as_str()) {
                let error = CliError::new(Exit::Usage, format!("there is no arm `{}`", clean::short(wanted, 80)));
                return Err(match similar(wanted, &names) {
                    Some(close) => error.hint(format!("did you mean `{close}`?")),
                    None => error.hint(format!("there are {}", names.join(", "))),
                });
            }
        }
        known.retain(|arm| self.arms.iter().any(|wanted| wanted == arm.name()));
        Ok(known)
    }

    fn checked_budgets(&self) -> Result<Vec<u64>, CliError> {
        if let Some(wrong) = self.budgets.iter().find(|budget| !(1..=MAX_BUDGET_TOKENS).contains(*budget)) {
            return Err(CliError::new(Exit::Usage, format!("a budget of {wrong} tokens"))
                .hint(format!("budgets are from 1 to {MAX_BUDGET_TOKENS} tokens, like 8000,16000")));
        }
        let mut budgets = self.budgets.clone();
        budgets.sort_unstable();
        budgets.dedup();
        Ok(budgets)
    }

    fn points_error(&self, error: &PointsError) -> CliError {
        let file = self.points.as_deref().unwrap_or(Path::new("points"));
        CliError::new(Exit::NotFound, format!("{}: {error}", file.display()))
            .hint("points belong to the sessions they were chosen in; without --points they are chosen anew")
    }

    fn report(&self, setup: &Setup, measured: &Measurements) -> Result<(), CliError> {
        if let Some(path) = &self.json_file {
            write(path, &format!("{:#}\n", json(measured, self.timing)))?;
        }
        if let Some(path) = &self.html {
            write(path, &html(measured))?;
        }
        if setup.output.json {
            return setup.output.json_line(&json(measured, self.timing));
        }
        setup.output.data(&table(measured, self.timing))
    }
}

fn read_points(path: &Path) -> Result<PointList, CliError> {
    let unusable = |why: &dyn std::fmt::Display| {
        CliError::new(Exit::Usage, format!("the points in {}: {why}", path.display()))
            .hint("a list like [[\"session\", 195], [\"session\", 199]]; a report has one under `points`")
    };
    let size = std::fs::metadata(path).map_err(|error| sources::unreadable(path, &error))?.len();
    if size > MAX_POINTS_BYTES {
        return Err(unusable(&format!("larger than {} MiB", MAX_POINTS_BYTES / (1024 * 1024))));
    }
    let text = std::fs::read_to_string(path).map_err(|error| sources::unreadable(path, &error))?;
    PointList::parse(&text).map_err(|error| unusable(&error))
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error| CliError::new(Exit::Failed, format!("cannot write {}: {error}", path.display()));
    std::fs::write(path, text).map_err(failed)
}

//! The flags that say what is looked for, and the filter they make.

use crate::cli::exit::{CliError, Exit};
use crate::cli::session_name;
use crate::tools::narrowing;
use clap::Args;
use clap::builder::PossibleValuesParser;
use retrace_events::{EventLog, Timestamp};
use retrace_indexer::{DocumentKind, Filter};

/// What the hits must be like. Each can be given several times; a hit has to fit one of the values of each.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct SearchFlags {
    /// Only what is of this kind
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    kind: Vec<String>,
    /// Only calls and results of this tool
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tool: Vec<String>,
    /// Only what is about this file, or about files in this folder
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Only this session: any unique beginning of its id
    #[arg(long, value_name = "SESSION")]
    session: Vec<String>,
    /// Only what is not older: a date, a time like 2026-11-21T10:00Z, or an age like 3h or 2d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what is not newer
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only commands that ended with this exit code, or with `ok` or `fail`
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    exit: Vec<String>,
    /// Only in this place
    #[arg(long = "in", value_name = "PLACE", value_delimiter = ',', value_parser = ["events", "summaries", "code"])]
    within: Vec<String>,
}

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(DocumentKind::ALL.map(DocumentKind::name))
}

impl SearchFlags {
    /// Whether nothing was asked for.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.fields(&[]).is_empty() && self.session.is_empty()
    }

    /// The filter, with the sessions looked up in `log`.
    ///
    /// # Errors
    /// When there is no such session, or a value cannot be read.
    pub(super) async fn filter(&self, log: &dyn EventLog, now: Timestamp) -> Result<Filter, CliError> {
        let mut sessions = Vec::new();
        for name in &self.session {
            sessions.push(session_name::find(log, name).await?.id.to_string());
        }
        narrowing::filter(self.fields(&sessions), now).map_err(|why| CliError::new(Exit::Usage, why))
    }

    /// All values with the names of their fields.
    fn fields<'a>(&'a self, sessions: &'a [String]) -> Vec<(&'a str, &'a str)> {
        let lists: [(&str, &[String]); 6] = [
            ("kind", &self.kind),
            ("tool", &self.tool),
            ("path", &self.path),
            ("session", sessions),
            ("exit", &self.exit),
            ("in", &self.within),
        ];
        let lists = lists.into_iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value.as_str())));
        let times = [("since", &self.since), ("until", &self.until)];
        let times = times.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        lists.chain(times).collect()
    }
}

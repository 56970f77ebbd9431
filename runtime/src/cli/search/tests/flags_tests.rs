//! The flags and the filter they make.

use crate::cli::search::flags::SearchFlags;
use crate::cli::{CliError, Exit};
use clap::{Args as _, FromArgMatches as _};
use retrace_events::log::MemoryLog;
use retrace_events::testing::EventMaker;
use retrace_events::{EventLog as _, Timestamp};
use retrace_indexer::{DocumentKind, Filter, Within};

const NOW: Timestamp = Timestamp(1_795_255_500_000);

fn flags(args: &[&str]) -> Result<SearchFlags, clap::Error> {
    let command = SearchFlags::augment_args(clap::Command::new("search"));
    let line = std::iter::once("search").chain(args.iter().copied());
    SearchFlags::from_arg_matches(&command.try_get_matches_from(line)?)
}

async fn filter(args: &[&str]) -> Result<Filter, CliError> {
    let log = MemoryLog::new();
    for (id, seed) in [(super::FIRST, 1), (super::SECOND, 2)] {
        log.append(&EventMaker::new(id.parse().unwrap(), seed).prompts(1)).await.unwrap();
    }
    flags(args).unwrap().filter(&log, NOW).await
}

#[tokio::test]
async fn every_flag_narrows_in_its_own_way() {
    let now_ms = i64::try_from(NOW.0).unwrap();
    let table: [(&[&str], Filter); 9] = [
        (&[], Filter::default()),
        (
            &["--kind", "prompt,result", "--kind", "note"],
            Filter { kinds: vec![DocumentKind::Prompt, DocumentKind::Result, DocumentKind::Note], ..Filter::default() },
        ),
        (&["--tool", "bash"], Filter { tools: vec!["bash".to_owned()], ..Filter::default() }),
        (&["--path", "a, b/c.rs"], Filter { paths: vec!["a, b/c.rs".to_owned()], ..Filter::default() }),
        (&["--exit", "101", "--exit", "-1"], Filter { exit: vec![101, -1], ..Filter::default() }),
        (&["--exit", "fail"], Filter { not_exit: vec![0], ..Filter::default() }),
        (&["--since", "1h"], Filter { since_ms: Some(now_ms - 3_600_000), ..Filter::default() }),
        (&["--in", "code,events"], Filter { within: vec![Within::Code, Within::Events], ..Filter::default() }),
        // Any unique beginning of either half of the id is the whole id.
        (
            &["--session", "w0rd", "--session", "01m80"],
            Filter {
                sessions: vec!["01m7ywme-w0rdt05x".to_owned(), "01m80000-aaaabbbb".to_owned()],
                ..Filter::default()
            },
        ),
    ];
    for (args, expected) in table {
        assert_eq!(filter(args).await.unwrap(), expected, "{args:?}");
        assert_eq!(flags(args).unwrap().is_empty(), args.is_empty(), "{args:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_of_the_right_sort() {
    let table = [
        (&["--since", "soon"][..], Exit::Usage, "invalid filter: `since:soon`: no moment"),
        (&["--exit", "boom"], Exit::Usage, "invalid filter: `exit:boom`"),
        (&["--path", ""], Exit::Usage, "invalid filter: path has no value"),
        (&["--session", "zz"], Exit::NotFound, "there is no session `zz`"),
        (&["--session", "01m"], Exit::NotFound, "`01m` means 2 sessions"),
    ];
    for (args, exit, message) in table {
        let error = filter(args).await.unwrap_err();
        assert_eq!((error.exit, error.message.as_str()), (exit, message), "{args:?}");
    }
    let hint = filter(&["--exit", "boom"]).await.unwrap_err().hint;
    assert_eq!(hint.as_deref(), Some("a number, `ok` or `fail`"));
}

#[test]
fn kinds_and_places_are_listed_when_one_is_wrong() {
    for (args, listed) in [(["--kind", "poem"], "prompt, answer, thinking"), (["--in", "x"], "events, summaries, code")]
    {
        let error = flags(&args).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains(listed), "{error}");
    }
}

//! The summarizer and the writer against the scripted server: real HTTP, real streaming, every fault.

use super::*;
use crate::claude::{Auth, ClaudeClient, Endpoint, ModelTable, Secret};
use crate::config::{Config, Flag, Folders, Key, Raw, Surroundings};
use crate::scripted::{Script, ScriptedServer, ServerOptions};
use crate::summarizer::{ClaudeSummarizer, WriteReport, WriteStop};
use tokio_util::sync::CancellationToken;

/// Says which events it was asked about.
const ECHO: &str = r#"
[[step]]
when = "summary of events #(\\d+) to #(\\d+)"
[[step.block]]
type = "thinking"
text = "hm"
[[step.block]]
type = "text"
text = "From $1 to $2 the parser was mended."
"#;

async fn serve(script: &str) -> ScriptedServer {
    ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions::default()).await.unwrap()
}

fn asking(server: &ScriptedServer, model: &str, key: &str, cancel: CancellationToken) -> Arc<ClaudeSummarizer> {
    let endpoint = Endpoint::new(server.base_url(), Auth::ApiKey(Secret::new(key)));
    let row = ModelTable::builtin().unwrap().row(model);
    Arc::new(ClaudeSummarizer::new(ClaudeClient::new(&endpoint).unwrap(), row, redactor(), cancel))
}

fn summarizer(server: &ScriptedServer) -> Arc<ClaudeSummarizer> {
    asking(server, "claude-haiku-5-5", ServerOptions::DEFAULT_API_KEY, CancellationToken::new())
}

/// Writes what is missing of a session of nine steps, with a server that plays `step` once.
async fn one(step: &str) -> (MemoryLog, WriteReport) {
    let (log, _) = logged(9).await;
    let server = serve(&format!("{ECHO}{step}")).await;
    let report = writer(&log, &summarizer(&server)).write_missing(all()).await;
    (log, report)
}

#[tokio::test]
async fn a_model_writes_the_upper_levels_once_and_its_price_is_logged() {
    for model in ["claude-haiku-5-5", "claude-opus-5-5"] {
        let (log, _) = logged(65).await;
        let server = serve(ECHO).await;
        let asking = asking(&server, model, ServerOptions::DEFAULT_API_KEY, CancellationToken::new());
        let report = writer(&log, &asking).write_missing(all()).await;
        assert!(report.stopped.is_none(), "{report:?}");
        assert_eq!(report.written, 9);
        let words = written(&log).await;
        assert_eq!(words[0].text, "From 0 to 7 the parser was mended.");
        assert_eq!(words[8].text, "From 0 to 63 the parser was mended.");
        assert!(words.iter().all(|words| words.by == model && words.cost_microusd > 0), "{words:?}");
        assert_eq!(report.cost_microusd, words.iter().map(|words| words.cost_microusd).sum::<u64>());
        let requests = server.requests();
        assert_eq!(requests.len(), 9);
        assert!(requests.iter().all(|request| request.refusal.is_none()), "{requests:?}");
        // Another process, later: everything is there.
        let report = writer(&log, &asking).write_missing(all()).await;
        assert_eq!((report.written, server.requests().len()), (0, 9));
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_the_next_time() {
    let (log, _) = logged(9).await;
    let server =
        serve(&format!("{ECHO}[[step.fault]]\nstatus = 529\n[[step.fault]]\nstatus = 429\nretry_after = 1\n")).await;
    let mut writer = writer(&log, &summarizer(&server));
    for _ in 0..2 {
        let report = writer.write_missing(all()).await;
        assert!(matches!(report.stopped, Some(WriteStop::Refused(_))), "{report:?}");
        assert_eq!(report.unknown_cost_microusd, 0, "a refused request is not billed");
    }
    assert_eq!(writer.write_missing(all()).await.written, 1);
    assert_eq!(server.requests().len(), 3, "one attempt a time");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_taken_and_counts_at_its_bound() {
    for fault in ["cut_after_events = 4", "end_after_events = 5", "error_mid_stream = \"api_error\"\nafter_events = 5"]
    {
        let (log, report) = one(&format!("[[step.fault]]\n{fault}\n")).await;
        assert!(matches!(report.stopped, Some(WriteStop::Refused(_))), "{fault}: {report:?}");
        assert!(report.unknown_cost_microusd > 0, "{fault}");
        assert!(written(&log).await.is_empty(), "{fault}");
    }
}

#[tokio::test]
async fn an_answer_without_words_is_no_summary() {
    let (log, _) = logged(9).await;
    let server = serve("[[step]]\nstop_reason = \"refusal\"\n[[step.block]]\ntype = \"text\"\ntext = \" \"\n").await;
    let mut writer = writer(&log, &summarizer(&server));
    for _ in 0..2 {
        let report = writer.write_missing(all()).await;
        assert!(
            matches!(&report.stopped, Some(WriteStop::Refused(why)) if why.contains("without words")),
            "{report:?}"
        );
        assert!(report.unknown_cost_microusd > 0, "it was billed");
    }
    assert!(writer.write_missing(all()).await.stopped.is_none(), "it is not asked for a third time");
    assert!(written(&log).await.is_empty());
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_wrong_key_is_told_without_the_key() {
    let (log, _) = logged(9).await;
    let server = serve(ECHO).await;
    let wrong = asking(&server, "claude-haiku-5-5", SECRET, CancellationToken::new());
    let report = writer(&log, &wrong).write_missing(all()).await;
    let told = format!("{report:?} {wrong:?}");
    assert!(matches!(report.stopped, Some(WriteStop::Refused(_))), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_request_that_hangs_ends_with_the_command() {
    let (log, _) = logged(9).await;
    let server = serve(&format!("{ECHO}[[step.fault]]\nhang = true\n")).await;
    let cancel = CancellationToken::new();
    let asking = asking(&server, "claude-haiku-5-5", ServerOptions::DEFAULT_API_KEY, cancel.clone());
    let mut writer = writer(&log, &asking);
    let stop = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (report, ()) = tokio::join!(writer.write_missing(all()), stop);
    assert!(matches!(report.stopped, Some(WriteStop::Refused(_))), "{report:?}");
    // It was not the summary's fault: another process gets it.
    assert_eq!(self::writer(&log, &summarizer(&server)).write_missing(all()).await.written, 1);
}

#[tokio::test]
async fn a_secret_in_the_answer_is_not_stored() {
    let (log, _) = logged(9).await;
    let server = serve(&format!("[[step]]\n[[step.block]]\ntype = \"text\"\ntext = \"The key is {SECRET}.\"\n")).await;
    writer(&log, &summarizer(&server)).write_missing(all()).await;
    assert_eq!(written(&log).await[0].text, "The key is [redacted:known].");
}

/// What is configured by these flags, for a session of the model `of-the-session`.
fn configured(flags: &[(Key, &str)]) -> Option<String> {
    let root = tempfile::tempdir().unwrap();
    let work = root.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let folder = |name: &str| root.path().join(name);
    let flag = |(key, value): &(Key, &str)| Flag { key: *key, name: "--flag", value: Raw::Text((*value).to_owned()) };
    let surroundings = Surroundings {
        env: std::collections::BTreeMap::new(),
        cwd: work,
        folders: Folders { config: folder("config"), state: folder("state"), cache: folder("cache") },
        flags: flags.iter().map(flag).collect(),
        rules: Vec::new(),
    };
    let config = Config::load(&surroundings).unwrap();
    let client = ClaudeClient::new(&Endpoint::new("http://127.0.0.1:9", Auth::ApiKey(Secret::new("k")))).unwrap();
    let models = ModelTable::builtin().unwrap();
    let asking = ClaudeSummarizer::configured(
        &config.values,
        "of-the-session",
        &models,
        client,
        redactor(),
        CancellationToken::new(),
    );
    asking.map(|asking| asking.model().to_owned())
}

#[test]
fn no_model_is_asked_unless_somebody_wants_it() {
    assert_eq!(configured(&[]), None);
    assert_eq!(configured(&[(Key::SummaryModel, "claude-haiku-5-5")]), None);
    assert_eq!(configured(&[(Key::Summaries, "claude")]).as_deref(), Some("of-the-session"));
    let both = [(Key::Summaries, "claude"), (Key::SummaryModel, "claude-haiku-5-5")];
    assert_eq!(configured(&both).as_deref(), Some("claude-haiku-5-5"));
}

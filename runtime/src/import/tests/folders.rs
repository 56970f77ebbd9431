//! Folders: several sessions, several files of one, subagents.

use super::*;
use crate::import::claude_code::SessionState as Became;

fn ids(report: &ImportReport) -> Vec<(String, u64)> {
    report.sessions.iter().map(|session| (session.session.clone(), session.stored)).collect()
}

#[tokio::test]
async fn subagents_become_sessions_of_their_own() {
    let desk = Desk::new();
    desk.write(&format!("p/{PARENT_ID}.jsonl"), WITH_SUBAGENTS);
    desk.write(&format!("p/{PARENT_ID}/subagents/agent-f1111111.jsonl"), AGENT_FILE);
    let report = desk.import(&desk.folder()).await;
    assert!(!report.failed(), "{report:?}");
    let agents: Vec<_> =
        report.sessions.iter().map(|session| (session.agent.as_deref(), session.title.as_str())).collect();
    assert_eq!(
        agents,
        [
            (None, "look into both crates"),
            (Some("d0000000"), "subagent: an old side chain"),
            (Some("f1111111"), "subagent: look at crate one"),
            (Some("p2222222"), "subagent: look at crate two"),
        ]
    );
    let ends = ["turn.answered", "turn.ended"];
    let begins = ["session.started", "session.imported", "turn.prompted"];
    for agent in ["d0000000", "f1111111"] {
        assert_eq!(desk.kinds(&format!("agent-{agent}-{PARENT_ID}")).await, [&begins[..], &ends].concat());
    }
    // The last words of one that has no file come from the result of the call that sent it.
    let id = format!("agent-p2222222-{PARENT_ID}");
    let middle = ["turn.answered", "tool.called", "tool.finished"];
    assert_eq!(desk.kinds(&id).await, [&begins[..], &middle, &ends].concat());
    assert!(desk.payloads(&id).await[6].to_json()["content"].as_str().unwrap().contains("crate two has one file"));
    // And nothing of theirs is in the session that sent them.
    let own = desk.payloads(PARENT_ID).await;
    assert!(own.iter().all(|payload| !payload.to_json().to_string().contains("old side chain")));
    assert_eq!(desk.import(&desk.folder()).await.stored(), 0);
}

#[tokio::test]
async fn subagents_can_be_left_out() {
    let desk = Desk::new();
    desk.write(&format!("{PARENT_ID}.jsonl"), WITH_SUBAGENTS);
    let shop = Shop { subagents: false, ..desk.shop(LATER_MS) };
    let report = Importer::new(&shop).run(&desk.folder(), &mut |_, _| {}).await.unwrap();
    assert_eq!(report.sessions.len(), 1);
    assert!(report.left_out.iter().any(|left| left == ("lines of subagents", 5)), "{:?}", report.left_out);
}

#[tokio::test]
async fn a_session_in_several_files_is_put_together() {
    let lines: Vec<&str> = SESSION.split_inclusive('\n').collect();
    let whole = Desk::new();
    whole.import(&whole.write("a.jsonl", SESSION)).await;
    let desk = Desk::new();
    // Names do not tell the order; lines that stand in both files count once; one is packed.
    desk.write("z.jsonl", lines[..20].concat());
    desk.write("a.jsonl.gz", gzip(lines[15..].concat().as_bytes()));
    let report = desk.import(&desk.folder()).await;
    assert_eq!((report.files, report.sessions.len(), report.failed()), (2, 1, false));
    assert_eq!(desk.events(SESSION_ID).await[1..].len(), whole.events(SESSION_ID).await[1..].len());
    assert_eq!(desk.kinds(SESSION_ID).await, whole.kinds(SESSION_ID).await);
    assert!(report.left_out.iter().any(|(what, _)| what == "repeated lines"));
}

#[tokio::test]
async fn a_session_is_named_after_its_file_where_lines_of_another_begin_it() {
    // A session that was gone on with under a new name begins with the old one's lines.
    let old = "5e551011-0000-4000-8000-00000000000a";
    let copied = user("p1", r#""before""#).replace(SESSION_ID, old);
    let text = format!("{copied}\n{}\n", user("p2", r#""after""#));
    let desk = Desk::new();
    let report = desk.import(&desk.write(&format!("{SESSION_ID}.jsonl"), &text)).await;
    assert_eq!(ids(&report), [(SESSION_ID.to_owned(), 4)]);
    let report = desk.import(&desk.write("renamed.jsonl", &text)).await;
    assert_eq!(ids(&report), [(old.to_owned(), 4)]);
}

#[tokio::test]
async fn titles_come_from_whoever_knows_best() {
    let title = |more: &[&str]| {
        let text = format!("{}\n{}\n", user("p1", r#""the first words""#), more.join("\n"));
        async move {
            let desk = Desk::new();
            desk.import(&desk.write("a.jsonl", text)).await.sessions[0].title.clone()
        }
    };
    let own = r#"{"type":"summary","summary":"of this one","leafUuid":"p1"}"#;
    let other = r#"{"type":"summary","summary":"of another","leafUuid":"q9"}"#;
    let written = r#"{"type":"ai-title","aiTitle":"written"}"#;
    let given = r#"{"type":"custom-title","customTitle":"given"}"#;
    assert_eq!(title(&[]).await, "the first words");
    assert_eq!(title(&[other]).await, "the first words");
    assert_eq!(title(&[other, own]).await, "of this one");
    assert_eq!(title(&[own, written]).await, "written");
    assert_eq!(title(&[given, own, written]).await, "given");
}

#[tokio::test]
async fn a_folder_goes_on_past_bad_files() {
    let desk = Desk::new();
    desk.write("a.jsonl", "not a transcript\n");
    desk.write("b.jsonl", "");
    desk.write("c.jsonl", r#"{"display":"a line of another format"}"#);
    desk.write("d.jsonl.gz", [&gzip(SESSION.as_bytes())[..40], b"garbage"].concat());
    desk.write("e.jsonl", SESSION);
    desk.write("notes.txt", SESSION);
    std::os::unix::fs::symlink("/etc/hostname", desk.folder().join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(desk.folder(), desk.folder().join("loop")).unwrap();
    let mut steps = Vec::new();
    let shop = desk.shop(LATER_MS);
    let report = Importer::new(&shop).run(&desk.folder(), &mut |done, all| steps.push((done, all))).await.unwrap();
    assert_eq!((report.files, report.others), (5, 3));
    assert_eq!(report.sessions.len(), 1);
    assert_eq!(report.sessions[0].state, Became::New);
    assert!(report.failed(), "the damaged one");
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(report.problems[0].what.starts_with("cannot be read: ") && report.problems[0].hint.is_some());
    assert_eq!(steps.first(), Some(&(1, 10)));
    assert!(steps.is_sorted());
}

#[tokio::test]
async fn a_named_file_must_be_a_transcript() {
    let desk = Desk::new();
    for content in
        ["", "{}", "not JSON", "[1]\n", "\u{0}\u{1}", r#"{"type":"user"}"#, r#"{"type":"user","message":{}}"#]
    {
        let report = desk.import(&desk.write("a.jsonl", content)).await;
        assert!(report.failed() && report.sessions.is_empty(), "{content}: {report:?}");
        assert_eq!(report.problems[0].what, "is no transcript of Claude Code's");
    }
    let report = desk.import(&desk.folder().join("absent.jsonl")).await;
    assert!(report.problems[0].what.contains("No such file"), "{report:?}");
    let report = desk.import(Path::new("/dev/null")).await;
    assert!(report.problems[0].what.contains("it is not a file"), "{report:?}");
    // Nothing at all is no failure of the import's; the command says that there is nothing.
    std::fs::create_dir(desk.folder().join("empty")).unwrap();
    let report = desk.import(&desk.folder().join("empty")).await;
    assert!(!report.failed() && report.sessions.is_empty());
}

#[tokio::test]
async fn a_workspace_that_is_none_becomes_the_present_one() {
    for cwd in [r"\u0000", "", "relative", r"/a\u0000b"] {
        let desk = Desk::new();
        let line = user("p", r#""hello""#).replace(r#""cwd":"/w""#, &format!(r#""cwd":"{cwd}""#));
        desk.import(&desk.write("a.jsonl", line + "\n")).await;
        assert_eq!(desk.state(SESSION_ID).await.workspace, "/fallback", "{cwd}");
    }
}

//! Sessions that come to the same, and divergences that are planted.

use super::recorder::{Recorder, SECRET, reasons};
use crate::replaying::{CallVerdict, FilesApart, FilesLikeness, Likeness, Normaliser, NotCompared};
use serde_json::json;

#[tokio::test]
async fn a_session_comes_to_the_same_tools_and_files_alike() {
    let mut session = Recorder::new().await;
    session.call("list_dir", json!({ "path": "." })).await;
    session.call("read_file", json!({ "path": "a.txt" })).await;
    session.bash("echo three >> a.txt; mkdir -p d; ln -s ../a.txt d/link; chmod 600 a.txt; cat a.txt").await;
    session.call("write_file", json!({ "path": "b.txt", "content": "bee\n" })).await;
    session.call("edit_file", json!({ "path": "b.txt", "old_string": "bee", "new_string": "wasp" })).await;
    session.call("search_files", json!({ "pattern": "wasp" })).await;
    session.call("todo", json!({ "items": [{ "text": "rest", "status": "pending" }] })).await;
    session.bash("exit 3").await;
    session.call("read_file", json!({ "path": "missing.txt" })).await;
    let (calls, summary) = session.replay().await;
    assert!(calls.iter().all(|call| call.verdict == CallVerdict::Compared(Likeness::Same)), "{calls:#?}");
    assert_eq!((summary.calls, summary.same, summary.diverging), (9, 9, 0));
    assert_eq!((summary.trees, summary.trees_alike), (4, 4), "behind each call that may write");
    assert!(summary.trees_apart.is_empty(), "{summary:?}");
    assert_eq!(summary.reproduced_permille(), Some(1_000));
}

#[tokio::test]
async fn a_planted_divergence_is_found_named_and_judged_by_itself() {
    let mut session = Recorder::new().await;
    session.bash("echo fine").await;
    // Sixteen random bytes are the same twice in no test run.
    let planted = session.bash("head -c 16 /dev/urandom | od -An -tx1 | tee random.txt; echo fine > ok.txt").await;
    session.bash("cat random.txt").await;
    let (calls, summary) = session.replay().await;
    let diverging: Vec<_> = calls.iter().filter(|call| call.diverges()).collect();
    assert_eq!(diverging.len(), 1, "what comes after it reads the logged files: {calls:#?}");
    let found = diverging[0];
    assert_eq!(found.call, planted);
    assert_eq!(found.verdict, CallVerdict::Compared(Likeness::Differs));
    let FilesLikeness::Differ { named, total } = &found.files else { panic!("{found:#?}") };
    assert_eq!((named.len(), *total, named[0].path.to_str(), named[0].how), (1, 1, Some("random.txt"), "differs"));
    let (then, now) = found.outcomes.as_ref().unwrap();
    assert_ne!(then.text, now.text);
    assert!(found.difference.contains("--- then\n+++ now\n"), "{}", found.difference);
    assert_eq!((summary.diverging, summary.only_files, summary.trees_alike), (1, 0, 2));
}

#[tokio::test]
async fn files_alone_can_diverge() {
    let mut session = Recorder::new().await;
    session.bash("head -c 16 /dev/urandom > random.bin; rm -f a.txt; mkdir -p new").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(calls[0].verdict, CallVerdict::Compared(Likeness::Same));
    assert!(calls[0].diverges());
    assert_eq!((summary.diverging, summary.only_files, summary.same), (1, 1, 0));
}

#[tokio::test]
async fn another_exit_diverges_though_the_words_are_the_same() {
    let mut session = Recorder::new().await;
    let lie =
        |finished: &mut retrace_events::payload::tool::ToolFinished| finished.exit.as_mut().unwrap().code = Some(7);
    session.call_changed("bash", json!({ "command": "true" }), lie).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[0].verdict, CallVerdict::Compared(Likeness::Differs));
}

#[tokio::test]
async fn times_pids_and_paths_are_no_divergence() {
    let mut session = Recorder::new().await;
    session.bash("date -u +%Y-%m-%dT%H:%M:%S.%NZ").await;
    session.bash("echo pid: $(((RANDOM * 32768 + RANDOM) % 9999999))").await;
    session.bash("pwd; ls -d \"$PWD/a.txt\"").await;
    session.bash("date +%s%N > stamp.txt; date > when.txt; pwd > where.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(summary.diverging, 0, "{calls:#?}");
    let by = |at: usize| calls[at].verdict.clone();
    assert_eq!(by(0), CallVerdict::Compared(Likeness::Normalised(vec![Normaliser::Times])));
    assert!(matches!(by(1), CallVerdict::Compared(Likeness::Normalised(by)) if by == [Normaliser::Pids]), "{calls:#?}");
    assert_eq!(by(2), CallVerdict::Compared(Likeness::Normalised(vec![Normaliser::Paths])));
    let FilesLikeness::Alike(apart) = &calls[3].files else { panic!("{calls:#?}") };
    assert!(apart.contains(&FilesApart::Words(Normaliser::Paths)), "{apart:?}");
    assert_eq!(summary.reproduced(), 4);
}

#[tokio::test]
async fn calls_that_name_the_workspace_find_the_fresh_one() {
    let mut session = Recorder::new().await;
    let at = session.workspace().display().to_string();
    session.bash(&format!("cd {at} && cat {at}/a.txt && echo more >> {at}/a.txt")).await;
    session.call("read_file", json!({ "path": format!("{at}/a.txt") })).await;
    session.call("write_file", json!({ "path": "script.sh", "content": format!("cat {at}/a.txt\n") })).await;
    session.call("read_file", json!({ "path": "script.sh" })).await;
    let (calls, summary) = session.replay().await;
    assert_eq!((summary.calls, summary.diverging), (4, 0), "{calls:#?}");
    assert_eq!(calls[3].verdict, CallVerdict::Compared(Likeness::Same), "what becomes a file stays as it was");
}

#[tokio::test]
async fn a_long_output_is_compared_whole() {
    let mut session = Recorder::new().await;
    // The model saw head and tail; the difference is in the middle.
    let long = session.bash("for i in $(seq 6000); do echo line $i; done; date +%s%N > /dev/null").await;
    session.call("read_output", json!({ "call_id": long.0, "offset_lines": 3000, "limit_lines": 3 })).await;
    session.bash("seq 5000; head -c 8 /dev/urandom | od -An -tx1; seq 5000").await;
    let (calls, summary) = session.replay().await;
    assert_eq!(summary.same, 2, "{:#?}", calls.iter().map(|call| &call.verdict).collect::<Vec<_>>());
    assert_eq!(calls[2].verdict, CallVerdict::Compared(Likeness::Differs));
    assert!(calls[2].difference.lines().count() < 20, "{}", calls[2].difference);
}

#[tokio::test]
async fn an_output_that_differs_is_read_as_it_was() {
    let mut session = Recorder::new().await;
    let random = session.bash("head -c 90000 /dev/urandom | od -An -tx1").await;
    session.call("read_output", json!({ "call_id": random.0, "offset_lines": 700, "limit_lines": 2 })).await;
    session.call("read_output", json!({ "call_id": "toolu_none" })).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[0].verdict, CallVerdict::Compared(Likeness::Differs));
    assert_eq!(calls[1].verdict, CallVerdict::Compared(Likeness::Same));
    assert_eq!(calls[2].verdict, CallVerdict::Compared(Likeness::Same), "that there is none is a result too");
}

#[tokio::test]
async fn a_result_that_points_at_another_is_compared_with_that_one() {
    let mut session = Recorder::new().await;
    session.file("long.txt", "a line of some length\n".repeat(40));
    session.bash("true").await;
    let first = session.call("read_file", json!({ "path": "long.txt" })).await;
    let pointer = |call: &str| {
        format!(
            "[Unchanged: word for word what call {call} came to, 40 lines, which stand above in this conversation.]"
        )
    };
    let input = json!({ "path": "long.txt" });
    session.call_changed("read_file", input.clone(), |finished| finished.content = pointer(&first.0)).await;
    session.call_changed("read_file", input, |finished| finished.content = pointer("toolu_gone")).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[2].verdict, CallVerdict::Compared(Likeness::Same), "{calls:#?}");
    assert_eq!(reasons(&calls), [NotCompared::PointerLost]);
}

#[tokio::test]
async fn secrets_are_taken_out_before_anything_is_compared() {
    let mut session = Recorder::new().await;
    session.bash(&format!("echo {SECRET}")).await;
    session.bash(&format!("echo {SECRET}; head -c 16 /dev/urandom | od -An -tx1")).await;
    // Of what a file holds, secrets are taken out by whoever logs it.
    session.bash(&format!("echo {SECRET} > notes.txt")).await;
    session.call("read_file", json!({ "path": "notes.txt" })).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[0].verdict, CallVerdict::Compared(Likeness::Same));
    assert_eq!(calls[3].verdict, CallVerdict::Compared(Likeness::Same));
    let shown = format!("{:?}{}", calls[1].outcomes, calls[1].difference);
    assert!(calls[1].diverges() && !shown.contains(SECRET), "{shown}");
}

#[tokio::test]
async fn an_image_is_compared_by_its_bytes() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    // 1 by 1, grey.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
    session.bash(&format!("echo {PNG} | base64 -d > dot.png")).await;
    session.call("read_file", json!({ "path": "dot.png" })).await;
    session.lie_about_images = true;
    session.call("read_file", json!({ "path": "dot.png" })).await;
    let (calls, _) = session.replay().await;
    assert_eq!(calls[2].verdict, CallVerdict::Compared(Likeness::Same), "{:#?}", calls[2]);
    assert_eq!(calls[3].verdict, CallVerdict::Compared(Likeness::Differs));
}

#[tokio::test]
async fn what_people_changed_is_there_before_the_turn_begins() {
    let mut session = Recorder::new().await;
    session.bash("echo first").await;
    session.prompt().await;
    session.file("a.txt", "by hand\n");
    session.file("d/new.txt", "by hand too\n");
    // It looks before anything is written, and so before the log says what it saw.
    session.call("read_file", json!({ "path": "a.txt" })).await;
    session.bash("cat d/new.txt >> a.txt; cat a.txt").await;
    let (calls, summary) = session.replay().await;
    assert_eq!((summary.diverging, summary.by_hand, summary.same), (0, 1, 3), "{calls:#?}");
}

#[tokio::test]
async fn a_workspace_of_any_permissions_goes_away() {
    let mut session = Recorder::new().await;
    session.bash("mkdir -p locked/in && touch locked/in/x && chmod 500 locked/in && chmod 500 locked").await;
    let (_, summary) = session.replay().await;
    assert_eq!(summary.diverging, 0);
    // Or the test's own folder would stay.
    session.bash("chmod 700 locked locked/in").await;
}

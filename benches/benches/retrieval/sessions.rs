//! Recorded coding sessions: the agent comes back to a file that it last touched more than 8,000 tokens ago. Is an earlier
//! event about that file among the first hits, for what was last said and asked? And among what fits 8,000 tokens?

use super::arms::{Asked, FoundEvent, events};
use super::bare::Bare;
use super::figures::{Arm, PLACES, print};
use super::indexes::sources;
use retrace_benches::recorded::{RecordedSession, recorded_sessions};
use retrace_benches::stream;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, Timestamp};
use retrace_indexer::{Document, Embedder, Filter, Follower, IndexFolder, KeywordIndex, SearchRequest};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// How many tokens back is far, and how many there are for what is found.
const FAR_TOKENS: u64 = 8_000;
const BUDGET_TOKENS: usize = 8_000;
/// The most tokens of an event that are counted, for lists without a budget of their own.
const EVENT_TOKENS: [usize; 2] = [800, SearchRequest::MAX_PASSAGE_TOKENS];

/// A place in a session where the agent comes back to a file.
struct Point {
    session: usize,
    /// What was last said and thought, then what was last asked.
    words: String,
    /// The first line of the newest 8,000 tokens.
    boundary: usize,
    path: String,
}

pub(crate) async fn measure(file: &Path, folder: &Path, embedder: Option<Arc<Embedder>>) {
    let sessions = recorded_sessions(file).unwrap();
    let documents = documents(&sessions, &folder.join("sessions-log")).await;
    let sources = sources(&folder.join("sessions"), &documents, embedder).await;
    let bare = Bare::of(&documents);
    let mut points: Vec<Point> =
        sessions.iter().enumerate().flat_map(|(place, session)| points(place, session)).collect();
    let wanted = std::env::var("RETRIEVAL_POINTS").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(points.len());
    let step = (points.len() / wanted.max(1)).max(1);
    points = points.into_iter().step_by(step).collect();

    let names = ["recency", "bare BM25 (tantivy)", "keyword", "keyword and windows", "vector", "fusion"];
    let mut arms: Vec<Arm> = names.map(|name| Arm { name, rows: Vec::new() }).into();
    let mut clusters = Vec::new();
    let mut places = HashMap::new();
    for point in &points {
        let session = &sessions[point.session];
        let until_ms = times_ms(session)[point.boundary];
        let stream = stream(&session.id).subject();
        let filter = Filter { sessions: vec![stream.clone()], until_ms: Some(until_ms), ..Filter::default() };
        let asked = Asked {
            sources: &sources,
            bare: &bare,
            documents: &documents,
            words: &point.words,
            filter,
            now_ms: until_ms,
        };
        let past = documents.iter().rev().filter(|document| document.stream == stream && document.at_ms < until_ms);
        let gold = gold(session, point);
        if gold.is_empty() {
            continue;
        }
        let (fused, windows) = asked.fusion().await;
        let (vector, budgeted) = (asked.vector().await, asked.budgeted(BUDGET_TOKENS).await);
        let used: usize = budgeted.iter().map(|event| event.tokens).sum();
        assert!(used <= BUDGET_TOKENS, "{used} tokens");
        let within = budgeted.iter().any(|event| gold.contains(&event.seq));
        let lists = [Some(events(past)), Some(asked.bare()), Some(asked.keyword()), Some(windows), vector];
        for (arm, list) in arms.iter_mut().zip(lists.into_iter().chain([Some(fused)])) {
            let Some(list) = list else { continue };
            let mut row = hits(&list, &gold);
            if arm.name == "fusion" {
                row[PLACES.len() + 1] = f64::from(u8::from(within));
            }
            arm.rows.push(row);
        }
        let count = places.len();
        clusters.push(*places.entry(point.session).or_insert(count));
    }
    arms.retain(|arm| !arm.rows.is_empty());
    let columns = ["@5", "@10", "@20", "@50", "8k of 800", "8k of 400"];
    print("coding sessions, hit", &columns, &arms, &clusters);
    println!(
        "  8k of n: within {BUDGET_TOKENS} tokens, at most n an event; of the fusion with 400: as retrieve() fills its budget"
    );
}

/// What the follower makes of the sessions, in the order of the log.
async fn documents(sessions: &[RecordedSession], folder: &Path) -> Vec<Document> {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::default());
    for session in sessions {
        for batch in session.events(&stream(&session.id), &str::to_owned).unwrap().chunks(100) {
            log.append(batch).await.unwrap();
        }
    }
    let index = IndexFolder::of_log(folder, &log.location());
    let holder = Holder::this_process("bench", Timestamp(0));
    let redactor = Arc::new(Redactor::new(Vec::new()));
    let mut follower = Follower::open(Arc::clone(&log), &index, redactor, &holder).await.unwrap();
    follower.catch_up(&mut |_| {}).await.unwrap();
    drop(follower);
    let keyword = KeywordIndex::open(&index.keyword()).unwrap().unwrap();
    // Summaries are left out: the question is which events are found.
    let documents = sessions.iter().flat_map(|session| keyword.documents_of(&stream(&session.id).subject()).unwrap());
    documents.filter(|document| document.kind != retrace_indexer::DocumentKind::Summary).collect()
}

fn points(place: usize, session: &RecordedSession) -> Vec<Point> {
    let mut before = vec![0];
    session.lines.iter().for_each(|line| before.push(before[before.len() - 1] + line.tok));
    let mut touched: HashMap<&str, usize> = HashMap::new();
    let mut points = Vec::new();
    for (number, line) in session.lines.iter().enumerate() {
        let Some(path) = line.path.as_deref() else { continue };
        let last = touched.insert(path, number);
        let far = last.is_some_and(|last| before[number] - before[last + 1] > FAR_TOKENS);
        if line.kind != "tool_call" || !far {
            continue;
        }
        let newest = |kinds: &[&str]| {
            let earlier = session.lines[..number].iter().rev();
            earlier
                .filter(|line| kinds.contains(&line.kind.as_str()))
                .map(|line| line.text.as_str())
                .next()
                .unwrap_or_default()
        };
        let words = format!("{}\n{}", newest(&["assistant", "thinking"]), newest(&["user"]));
        let boundary = (0..number).find(|first| before[number] - before[*first] <= FAR_TOKENS).unwrap_or(number);
        points.push(Point { session: place, words, boundary, path: path.to_owned() });
    }
    points
}

/// The events about the file that are old enough: line `i` is event `i + 1`.
fn gold(session: &RecordedSession, point: &Point) -> HashSet<u64> {
    let times_ms = times_ms(session);
    let lines = session.lines[..point.boundary].iter().zip(&times_ms);
    let about =
        lines.filter(|(line, at_ms)| line.path.as_deref() == Some(&point.path) && **at_ms < times_ms[point.boundary]);
    about.map(|(line, _)| line.i as u64 + 1).collect()
}

fn hits(list: &[FoundEvent], gold: &HashSet<u64>) -> Vec<f64> {
    let hit = |found: bool| f64::from(u8::from(found));
    let at = |place: usize| hit(list.iter().take(place).any(|event| gold.contains(&event.seq)));
    PLACES.map(at).into_iter().chain(EVENT_TOKENS.map(|most| hit(within(list, gold, most)))).collect()
}

/// Whether one of them is among what fits the budget, with at most `most` tokens of each.
fn within(list: &[FoundEvent], gold: &HashSet<u64>, most: usize) -> bool {
    let mut left = BUDGET_TOKENS;
    list.iter().any(|event| {
        let cost = event.tokens.min(most);
        let fits = cost <= left;
        left -= if fits { cost } else { 0 };
        fits && gold.contains(&event.seq)
    })
}

/// When the events happened, as the log has it: never before the event before.
fn times_ms(session: &RecordedSession) -> Vec<i64> {
    let mut last = 0;
    let time = |text: &str| text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
    session
        .lines
        .iter()
        .map(|line| {
            last = time(&line.ts).max(last);
            last
        })
        .collect()
}

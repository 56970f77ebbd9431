//! A filter lets through exactly what it accepts, whatever stands in paths, tools and sessions.

use super::world::{row, unit};
use crate::document::{Document, DocumentKind};
use crate::query::{Filter, Within};
use crate::vector::VectorTable;
use proptest::prelude::*;

const DIMENSIONS: usize = 8;

const HOSTILE: [&str; 8] = [
    "' OR '1'='1",
    "x'; DROP TABLE gists; --",
    "\"quoted\" `ticked`",
    "100%_sure\\",
    "new\nline",
    "ünïcode/ŠIPKA",
    "/* comment",
    "\u{0}nul",
];

fn document(number: u64) -> Document {
    let pick = |names: &[&str], factor: u64| names[usize::try_from(number * factor).unwrap() % names.len()].to_owned();
    let paths = ["src/auth/mod.rs", "docs/Auth.md", "SRC/main.rs", "a/b/c.txt", "src/author.rs", "/etc/passwd"];
    let number_signed = i64::try_from(number).unwrap();
    Document {
        key: format!("d/{number}"),
        kind: DocumentKind::of_code(number % 8).unwrap(),
        stream: if number.is_multiple_of(9) { String::new() } else { format!("ev.t.p.session.01A{}", number % 7) },
        workspace: pick(&["/work", "/other", HOSTILE[0]], 1),
        position: number,
        at_ms: number_signed * 10,
        tool: (!number.is_multiple_of(3)).then(|| pick(&["bash", "Read_File", HOSTILE[1], HOSTILE[3]], 5)),
        paths: match number % 4 {
            0 => Vec::new(),
            1 => vec![pick(&paths, 1)],
            2 => vec![pick(&paths, 3), pick(&HOSTILE, 1)],
            _ => vec![pick(&HOSTILE, 7), pick(&paths, 5), "z".repeat(300)],
        },
        exit: (number % 5 < 3).then_some(number_signed % 3),
        ..Document::default()
    }
}

async fn table(folder: &std::path::Path, documents: &[Document]) -> VectorTable {
    let table = VectorTable::create(folder, "model", DIMENSIONS).await.unwrap();
    let rows: Vec<_> = documents.iter().map(|document| row(document, unit(document.position, DIMENSIONS))).collect();
    table.put(&rows).await.unwrap();
    table
}

async fn found(table: &VectorTable, filter: &Filter) -> Vec<u64> {
    let hits = table.search(&unit(1, DIMENSIONS), filter, 1000).await.unwrap();
    let mut positions: Vec<u64> = hits.iter().map(|hit| hit.position).collect();
    positions.sort_unstable();
    positions
}

fn accepted(documents: &[Document], filter: &Filter) -> Vec<u64> {
    documents.iter().filter(|document| filter.accepts(document)).map(|document| document.position).collect()
}

#[tokio::test]
async fn each_part_of_a_filter_is_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<Document> = (0..120).map(document).collect();
    let table = table(folder.path(), &documents).await;
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let all = Filter::default;
    let filters = [
        all(),
        Filter { kinds: vec![DocumentKind::Prompt, DocumentKind::Code], ..all() },
        Filter { not_kinds: vec![DocumentKind::Prompt], within: vec![Within::Events], ..all() },
        Filter { tools: texts(&["BASH"]), ..all() },
        Filter { tools: texts(&[HOSTILE[1], HOSTILE[3]]), ..all() },
        Filter { not_tools: texts(&["read_file", HOSTILE[1]]), ..all() },
        Filter { sessions: texts(&["01a3"]), ..all() },
        Filter { sessions: texts(&["01"]), not_sessions: texts(&["01A2", "ev.t.p.session.01a4"]), ..all() },
        Filter { sessions: texts(&["", "' OR 1=1"]), ..all() },
        Filter { not_sessions: texts(&[""]), ..all() },
        Filter { workspace: Some(HOSTILE[0].to_owned()), ..all() },
        Filter { since_ms: Some(300), until_ms: Some(700), ..all() },
        Filter { exit: vec![0, 2], ..all() },
        Filter { not_exit: vec![0], ..all() },
        Filter { paths: texts(&["src/auth"]), ..all() },
        Filter { paths: texts(&["MAIN.rs", "docs"]), ..all() },
        Filter { paths: texts(&["*.rs"]), ..all() },
        Filter { paths: texts(&["src/**/mod.rs", "etc"]), ..all() },
        Filter { paths: texts(&["src"]), and_paths: vec![texts(&["*.rs"]), texts(&["auth"])], ..all() },
        Filter { not_paths: texts(&["src", "*.md"]), ..all() },
        Filter { paths: texts(&["/"]), ..all() },
        Filter { not_paths: texts(&["/", "*"]), ..all() },
        Filter { paths: texts(&["[*"]), ..all() },
        Filter { paths: (0..40).map(|number| format!("p{number}")).chain(["auth".to_owned()]).collect(), ..all() },
        Filter { not_paths: (0..40).map(|number| format!("p{number}")).chain(["auth".to_owned()]).collect(), ..all() },
        Filter { nothing: true, ..all() },
        Filter { within: vec![Within::Code], kinds: vec![DocumentKind::Prompt], ..all() },
    ];
    for filter in filters {
        assert_eq!(found(&table, &filter).await, accepted(&documents, &filter), "{filter:?}");
    }
    for hostile in HOSTILE {
        for filter in [
            Filter { paths: texts(&[hostile]), ..all() },
            Filter { not_paths: texts(&[hostile]), ..all() },
            Filter { tools: texts(&[hostile]), ..all() },
            Filter { sessions: texts(&[hostile]), ..all() },
            Filter { workspace: Some(hostile.to_owned()), ..all() },
        ] {
            assert_eq!(found(&table, &filter).await, accepted(&documents, &filter), "{filter:?}");
        }
    }
}

#[tokio::test]
async fn a_rare_path_is_found_behind_many_near_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut documents: Vec<Document> = (0..600).map(document).collect();
    for document in &mut documents {
        document.paths = vec!["src/lib.rs".to_owned()];
    }
    let question = unit(1, DIMENSIONS);
    let opposite: Vec<f32> = question.iter().map(|value| -value).collect();
    documents[300].paths = vec!["src/rare_one.rs".to_owned()];
    let table = VectorTable::create(folder.path(), "model", DIMENSIONS).await.unwrap();
    let vector = |number: u64| if number == 300 { opposite.clone() } else { unit(number, DIMENSIONS) };
    let rows: Vec<_> = documents.iter().map(|document| row(document, vector(document.position))).collect();
    table.put(&rows).await.unwrap();
    let filter = Filter { paths: vec!["src/rare*".to_owned()], ..Filter::default() };
    let hits = table.search(&question, &filter, 3).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), [300]);
}

fn some_texts(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let one = prop_oneof![proptest::sample::select(of).prop_map(str::to_owned), "[a-z*?/'\"%\\\\_.\\[]{0,6}"];
    prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(one, 1..3)]
}

fn some_filter() -> impl Strategy<Value = Filter> {
    const PATHS: &[&str] = &["src", "auth", "*.rs", "src/**", "a/b", "**/c.txt", "docs/auth.md", "ŠIPKA", "new\nline"];
    const TOOLS: &[&str] = &["bash", "READ_FILE", "x'; DROP TABLE gists; --"];
    const SESSIONS: &[&str] = &["01a", "01A5", "ev.t.p.session.01A1"];
    let kinds = proptest::collection::vec((0_u64..8).prop_map(|code| DocumentKind::of_code(code).unwrap()), 0..3);
    let within = proptest::collection::vec(proptest::sample::select(&Within::ALL[..]), 0..2);
    let times = (proptest::option::of(0_i64..800), proptest::option::of(0_i64..800));
    let exits = (proptest::collection::vec(0_i64..4, 0..2), proptest::collection::vec(0_i64..4, 0..2));
    let paths = (some_texts(PATHS), proptest::collection::vec(some_texts(PATHS), 0..2), some_texts(PATHS));
    let names = (some_texts(TOOLS), some_texts(TOOLS), some_texts(SESSIONS), some_texts(SESSIONS));
    (kinds, within, times, exits, paths, names).prop_map(|(kinds, within, times, exits, paths, names)| Filter {
        not_kinds: kinds.iter().skip(1).copied().collect(),
        kinds: kinds.into_iter().take(1).collect(),
        within,
        since_ms: times.0,
        until_ms: times.1,
        exit: exits.0,
        not_exit: exits.1,
        paths: paths.0,
        and_paths: paths.1,
        not_paths: paths.2,
        tools: names.0,
        not_tools: names.1,
        sessions: names.2,
        not_sessions: names.3,
        ..Filter::default()
    })
}

#[test]
fn any_filter_lets_through_exactly_what_it_accepts() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<Document> = (0..80).map(document).collect();
    let table = runtime.block_on(table(folder.path(), &documents));
    proptest!(ProptestConfig::with_cases(96), |(filter in some_filter())| {
        let found = runtime.block_on(found(&table, &filter));
        prop_assert_eq!(found, accepted(&documents, &filter));
    });
}

//! `read_output`: ranges of a kept output, from the blob store.

use super::harness::Bench;
use expect_test::expect;
use serde_json::json;

/// A bench whose call `toolu_1` kept `text`.
async fn bench(text: &str) -> Bench {
    let bench = Bench::new().await;
    let output = bench.context.log.blobs().put(text.as_bytes()).await.unwrap();
    let mut bench = bench;
    bench.context.outputs = std::sync::Arc::new(move |call| (call.0 == "toolu_1").then_some(output));
    bench
}

fn numbers(count: u32) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[tokio::test]
async fn a_range_of_lines() {
    let bench = bench(&numbers(1_000)).await;
    expect![[r#"
           400	line 400
           401	line 401
        [1,000 lines and 8,893 bytes in all; to go on: offset_lines 402]"#]]
    .assert_eq(&bench.ok("read_output", json!({"call_id": "toolu_1", "offset_lines": 400, "limit_lines": 2})).await);
    expect![[r#"
           999	line 999
          1000	line 1000
        [1,000 lines and 8,893 bytes in all]"#]]
    .assert_eq(&bench.ok("read_output", json!({"call_id": "toolu_1", "from_end": 2})).await);
    let first = bench.ok("read_output", json!({"call_id": "toolu_1"})).await;
    assert!(first.starts_with("     1\tline 1\n") && first.ends_with("to go on: offset_lines 501]"), "{first}");
}

#[tokio::test]
async fn lines_that_match() {
    let bench = bench(&numbers(1_000)).await;
    expect![[r#"
            99	line 99
           199	line 199
           299	line 299
        [1,000 lines and 8,893 bytes in all; 10 of them match; to go on: offset_lines 300]"#]]
    .assert_eq(&bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "99$", "limit_lines": 3})).await);
    expect![[r#"
           899	line 899
           999	line 999
        [1,000 lines and 8,893 bytes in all; 10 of them match]"#]]
    .assert_eq(&bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "99$", "from_end": 2})).await);
    let none = bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "nothing"})).await;
    assert_eq!(none, "[no line matches; 1,000 lines and 8,893 bytes in all]");
    let late = bench.ok("read_output", json!({"call_id": "toolu_1", "grep": "99$", "offset_lines": 900})).await;
    assert!(
        late.ends_with(
            "   999\tline 999\n[1,000 lines and 8,893 bytes in all; 1 of them match; looked at from line 900]"
        ),
        "{late}"
    );
}

#[tokio::test]
async fn an_output_of_many_blocks_stays_within_bounds() {
    let line = format!("{}€\n", "x".repeat(996));
    let bench = bench(&line.repeat(5_000)).await;
    let text = bench.ok("read_output", json!({"call_id": "toolu_1", "from_end": 100_000})).await;
    assert!(text.len() < 16_300, "{}", text.len());
    assert!(
        text.ends_with("€\n[5,000 lines and 5,000,000 bytes in all; only the last 15 fit]"),
        "{}",
        &text[text.len() - 99..]
    );
    assert!(!text.contains('\u{FFFD}'), "no character is split between blocks");
    let text =
        bench.ok("read_output", json!({"call_id": "toolu_1", "offset_lines": 2_000, "limit_lines": 1_000})).await;
    assert!(text.len() < 16_300 && text.ends_with("to go on: offset_lines 2015]"), "{}", &text[text.len() - 99..]);
}

#[tokio::test]
async fn an_endless_line_is_cut() {
    let bench = bench(&"y".repeat(3_000_000)).await;
    let text = bench.ok("read_output", json!({"call_id": "toolu_1"})).await;
    assert!(
        text.ends_with("[line cut: 2,998,000 more characters]\n[1 line and 3,000,000 bytes in all]"),
        "{}",
        &text[text.len() - 99..]
    );
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let bench = bench("one\n").await;
    let table = [
        (json!({"call_id": "toolu_9"}), "no kept output for the call toolu_9"),
        (json!({"call_id": "../../etc/passwd"}), "no kept output"),
        (
            json!({"call_id": "toolu_1", "offset_lines": 2}),
            "there is no line 2: the output has 1 line and 4 bytes in all",
        ),
        (json!({"call_id": "toolu_1", "grep": "("}), "invalid regular expression: "),
        (json!({"call_id": "toolu_1", "grep": r"(\w{1000}){1000}"}), "invalid regular expression: "),
        (json!({"call_id": "toolu_1", "from_end": 1, "limit_lines": 1}), "from_end does not go together"),
    ];
    for (input, expected) in table {
        let text = bench.fails("read_output", input).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_blob_that_is_gone_is_no_failure_of_the_log() {
    let mut bench = Bench::new().await;
    let hash = retrace_events::Hash::of(b"never stored");
    bench.context.outputs = std::sync::Arc::new(move |_| Some(retrace_events::BlobRef { hash, size_bytes: 12 }));
    let text = bench.fails("read_output", json!({"call_id": "toolu_1"})).await;
    assert_eq!(text, "the output of toolu_1 is no longer kept");
}

/// What the tool shows is what a plain reading of all lines would give, for any range.
#[tokio::test]
async fn any_range_is_that_of_a_plain_reading() {
    let lines: Vec<String> = (0..300).map(|n| format!("{} {}", n * 7919 % 101, "€".repeat(n % 5))).collect();
    let bench = bench(&lines.join("\n")).await;
    let numbered: Vec<(usize, &str)> = lines.iter().enumerate().map(|(n, line)| (n + 1, line.as_str())).collect();
    for (first, limit, grep) in
        [(1, 5, None), (290, 50, None), (17, 1, Some("9")), (1, 40, Some("^1")), (150, 10, Some("€€$"))]
    {
        let pattern = regex::Regex::new(grep.unwrap_or("")).unwrap();
        let fits: Vec<&(usize, &str)> = numbered.iter().filter(|(_, line)| pattern.is_match(line)).collect();
        let show =
            |lines: &[&(usize, &str)]| lines.iter().map(|(n, line)| format!("{n:>6}\t{line}\n")).collect::<String>();

        let from: Vec<&(usize, &str)> = fits.iter().copied().filter(|(n, _)| *n >= first).take(limit).collect();
        let mut input = json!({"call_id": "toolu_1", "offset_lines": first, "limit_lines": limit});
        input["grep"] = grep.into();
        let text = bench.ok("read_output", input).await;
        assert_eq!(text.rsplit_once('[').unwrap().0, show(&from), "{first} {limit} {grep:?}");

        let mut input = json!({"call_id": "toolu_1", "from_end": limit});
        input["grep"] = grep.into();
        let text = bench.ok("read_output", input).await;
        assert_eq!(
            text.rsplit_once('[').unwrap().0,
            show(&fits[fits.len().saturating_sub(limit)..]),
            "{limit} {grep:?}"
        );
    }
}

//! Reports: the same bytes each time, nothing that a page could run, nothing loaded from elsewhere.

use super::super::{BenchPlan, Estimate, Latency, Measurements, PointView, html, json, table};
use super::{long, measured, plan};
use crate::bench::measurements::Cell;
use crate::bench::requests::RequestSums;
use expect_test::expect;

/// Two arms and two budgets, with figures that are easy to read.
fn made() -> Measurements {
    let share = |mean: f64| Some(Estimate { mean, low: mean - 0.02, high: mean + 0.04, points: 1_383 });
    let cell = |arm, budget_tokens: u64, better: f64| Cell {
        arm,
        budget_tokens,
        mean_tokens: budget_tokens as f64 + 0.6,
        shares: [
            share(0.9 + better),
            None,
            share(0.5 + better),
            share(better),
            share(0.123),
            Some(Estimate { mean: 0.0, low: 0.0, high: 0.0, points: 9 }),
        ],
        above_tail: [share(better), None, share(-better), share(0.0), None, None],
        above_fresh: (arm == "epochs").then(|| [share(-better), None, share(0.0), None, share(0.01), None]),
        requests: RequestSums {
            requests: 1_234,
            tokens: 9_876_543,
            read_tokens: 1_000_000,
            written_tokens: 5,
            warm_tokens: 2_000_000,
            warm_read_tokens: if better > 0.0 { 1_900_000 } else { 0 },
            cost_microusd: 12_345_678,
        },
        latency: Some(Latency { p50_us: 1_234.5, p99_us: 20_000.0 }),
    };
    Measurements {
        points: vec![("a".to_owned(), 3)],
        sessions: 1,
        seed: 7,
        model: "a <model> & \"more\"".to_owned(),
        view: PointView::Call,
        budgets: vec![4_000, 16_000],
        arms: vec!["tail", "workset"],
        cells: vec![
            cell("tail", 4_000, 0.0),
            cell("workset", 4_000, 0.05),
            cell("tail", 16_000, 0.0),
            cell("workset", 16_000, 0.05),
        ],
    }
}

#[test]
fn the_table() {
    expect![[r#"
        1 point in 1 session, composed directly before the calls, seed 7, prices of a <model> & "more"

        evidence of the next action that is in the context, in percent (± half of the 95% interval)

        | budget | arm     | tokens |        id | id-old |      line | line-old |      pair | pair-old |
        |-------:|---------|-------:|----------:|-------:|----------:|---------:|----------:|---------:|
        |  4,000 | tail    |  4,001 | 90.0 ±3.0 |      - | 50.0 ±3.0 | 0.0 ±3.0 | 12.3 ±3.0 | 0.0 ±0.0 |
        |  4,000 | workset |  4,001 | 95.0 ±3.0 |      - | 55.0 ±3.0 | 5.0 ±3.0 | 12.3 ±3.0 | 0.0 ±0.0 |
        | 16,000 | tail    | 16,001 | 90.0 ±3.0 |      - | 50.0 ±3.0 | 0.0 ±3.0 | 12.3 ±3.0 | 0.0 ±0.0 |
        | 16,000 | workset | 16,001 | 95.0 ±3.0 |      - | 55.0 ±3.0 | 5.0 ±3.0 | 12.3 ±3.0 | 0.0 ±0.0 |

        above the tail window of the same budget, in points of a hundred

        | budget | arm     |        id | id-old |      line |  line-old | pair | pair-old |
        |-------:|---------|----------:|-------:|----------:|----------:|-----:|---------:|
        |  4,000 | workset | +5.0 ±3.0 |      - | -5.0 ±3.0 | +0.0 ±3.0 |    - |        - |
        | 16,000 | workset | +5.0 ±3.0 |      - | -5.0 ±3.0 | +0.0 ±3.0 |    - |        - |

        points with such evidence

        | budget |    id | id-old |  line | line-old |  pair | pair-old |
        |-------:|------:|-------:|------:|---------:|------:|---------:|
        |  4,000 | 1,383 |      0 | 1,383 |    1,383 | 1,383 |        9 |
        | 16,000 | 1,383 |      0 | 1,383 |    1,383 | 1,383 |        9 |

        requests of the sessions, with the prompt cache simulated

        | budget | arm     | requests | tokens a request | tokens in all |  read | read while warm | input cost |
        |-------:|---------|---------:|-----------------:|--------------:|------:|----------------:|-----------:|
        |  4,000 | tail    |    1,234 |            8,004 |     9,876,543 | 10.1% |            0.0% |     $12.35 |
        |  4,000 | workset |    1,234 |            8,004 |     9,876,543 | 10.1% |           95.0% |     $12.35 |
        | 16,000 | tail    |    1,234 |            8,004 |     9,876,543 | 10.1% |            0.0% |     $12.35 |
        | 16,000 | workset |    1,234 |            8,004 |     9,876,543 | 10.1% |           95.0% |     $12.35 |

        time to compose

        | budget | arm     |     p50 |      p99 |
        |-------:|---------|--------:|---------:|
        |  4,000 | tail    | 1.23 ms | 20.00 ms |
        |  4,000 | workset | 1.23 ms | 20.00 ms |
        | 16,000 | tail    | 1.23 ms | 20.00 ms |
        | 16,000 | workset | 1.23 ms | 20.00 ms |
    "#]]
    .assert_eq(&table(&made(), true));
}

#[test]
fn epochs_are_compared_with_what_is_composed_afresh() {
    let mut made = made();
    for (cell, arm) in made.cells.iter_mut().zip(["ours", "epochs"]) {
        cell.arm = arm;
    }
    let share = Some(Estimate { mean: -0.012, low: -0.03, high: 0.0, points: 9 });
    made.cells[1].above_fresh = Some([share, None, share, None, share, None]);
    made.cells[1].requests.cost_microusd /= 4;
    let text = table(&made, false);
    let row = text.lines().find(|line| line.contains("epochs") && line.contains("25.0%")).unwrap();
    assert_eq!(row.matches("-1.2 ±1.5").count(), 3, "{text}");
    assert_eq!(json(&made, false)["cells"][1]["above_fresh"]["id"]["mean"], -1.2);
    assert!(html(&made).contains("Epochs above ours"));
    // And by a run: the differences are those of the means.
    let run = measured(BenchPlan { budgets: vec![1_000], ..plan() }, &[long("one"), long("two")]);
    let (fresh, epochs) = (run.cell("ours", 1_000).unwrap(), run.cell("epochs", 1_000).unwrap());
    let above = epochs.above_fresh.unwrap();
    for column in [0, 2, 4] {
        let [fresh, epochs, above] =
            [fresh.shares[column], epochs.shares[column], above[column]].map(|it| it.unwrap().mean);
        assert!((epochs - fresh - above).abs() < 1e-9, "{fresh} {epochs} {above}");
    }
}

#[test]
fn latencies_are_there_only_when_asked_for() {
    assert!(!table(&made(), false).contains("ms"));
    assert!(json(&made(), false)["cells"][0].get("latency").is_none());
    assert_eq!(json(&made(), true)["cells"][0]["latency"]["p50_us"], 1_234.5);
}

#[test]
fn json_has_all_figures_and_the_points_as_they_are_read() {
    let value = json(&made(), false);
    assert_eq!(value["points"].to_string(), "[[\"a\",3]]");
    let cell = &value["cells"][1];
    assert_eq!((cell["arm"].as_str(), cell["budget_tokens"].as_u64()), (Some("workset"), Some(4_000)));
    assert_eq!(cell["shares"]["id"].to_string(), r#"{"mean":95.0,"low":93.0,"high":99.0,"points":1383}"#);
    assert!(cell["shares"]["id-old"].is_null());
    assert_eq!(cell["requests"]["cache_read_percent_while_warm"], 95.0);
}

#[test]
fn the_page_escapes_and_needs_nothing_else() {
    let page = html(&made());
    assert!(page.contains("a &lt;model&gt; &amp; &quot;more&quot;") && !page.contains("<model>"));
    for foreign in ["<script", "http:", "https:", "src=", "@import", "url(", "onload"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(page.matches("<svg").count(), 8);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn real_reports_are_the_same_byte_for_byte() {
    let sessions = ["a", "b"].map(long);
    let [one, two] = [(); 2].map(|()| measured(BenchPlan { budgets: vec![2_000], ..plan() }, &sessions));
    assert_eq!(table(&one, false), table(&two, false));
    assert_eq!(json(&one, false).to_string(), json(&two, false).to_string());
    assert_eq!(html(&one), html(&two));
    let text = table(&one, false);
    assert!(
        text.lines().next().unwrap().contains(" points in 2 sessions, composed directly before the calls, seed 7"),
        "{text}"
    );
}

#[test]
fn a_run_without_points_can_be_shown() {
    let empty = measured(plan(), &[]);
    assert!(table(&empty, true).contains("0 points in 0 sessions"));
    assert!(!html(&empty).contains("NaN"));
}

//! The table is complete and sound, and money is counted upwards.

use crate::claude::{Effort, LongPromptPrices, ModelRow, ModelTable, ModelTableError, Prices, ThinkingType, Usage};

/// The ids of the vendor's client package.
const IDS: [&str; 22] = [
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "claude-haiku-5-5",
    "claude-sonnet-5-5",
    "claude-fable-5-1",
    "claude-opus-5-5",
    "claude-mythos-5-1",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-mythos-5",
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
    "claude-mythos-preview",
    "claude-opus-4-6",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-5",
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
];

fn table() -> ModelTable {
    ModelTable::builtin().unwrap()
}

#[test]
fn every_known_id_has_a_row_under_its_own_name() {
    for id in IDS {
        let row = table().find(id).unwrap_or_else(|| panic!("no row for {id}"));
        assert_eq!(row.id, id);
    }
    assert_eq!(
        table().find("claude-haiku-4-5-20251001").unwrap().prices,
        table().find("claude-haiku-4-5").unwrap().prices
    );
}

#[test]
fn the_facts_that_the_agent_relies_on() {
    for id in IDS {
        let row = table().row(id);
        let preserved =
            ["fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "-5-5"].iter().any(|part| id.ends_with(part));
        assert_eq!(row.preserved_thinking, preserved, "{id}");
        let old = ["4-5", "4-6", "4-7", "preview"].iter().any(|part| id.contains(part));
        assert_eq!(row.mid_conversation_system, !old, "{id}");
        assert!((512..=4_096).contains(&row.min_cacheable_tokens), "{id}");
        assert!(row.max_output_tokens < row.context_window_tokens, "{id}");
        let prices = &row.prices;
        assert_eq!(prices.cache_write_5m * 4, prices.input * 5, "{id}: a 5m write costs 1.25");
        assert_eq!(prices.cache_write_1h, prices.input * 2, "{id}: a 1h write costs 2");
        assert!(prices.cache_read * 10 <= prices.input && prices.input < prices.output, "{id}");
        assert!(!row.thinking.accepts.is_empty(), "{id}");
        let effortless = ["sonnet-4-5", "haiku-4-5"].iter().any(|part| id.contains(part));
        assert_eq!(row.effort.is_empty(), effortless, "{id}");
        assert!(row.effort.is_sorted(), "{id}");
        let newest = !["4-5", "4-6", "preview"].iter().any(|part| id.contains(part));
        assert_eq!(row.effort == Effort::ALL, newest, "{id}");
    }
}

#[test]
fn an_unknown_id_is_passed_on_with_the_dearest_prices() {
    let row = table().row("claude-of-the-future");
    assert_eq!(row.id, "claude-of-the-future");
    assert!(table().find("claude-of-the-future").is_none());
    assert!(row.preserved_thinking && !row.mid_conversation_system);
    assert_eq!(row.thinking_field(32_000), None, "nothing is known about its thinking");
    assert!(row.effort.is_empty(), "nothing is known about its efforts");
    for known in IDS.iter().filter(|id| !id.contains("preview")) {
        assert!(table().row(known).prices.output <= row.prices.output, "{known}");
    }
    assert!(table().find("claude-opus-5-5-99999999").is_some(), "a dated id of a known model");
    assert!(table().find("claude-opus-5-5-9999999").is_none());
}

#[test]
fn thinking_fields() {
    let adaptive = table().row("claude-opus-5-5").thinking_field(4_000).unwrap();
    assert_eq!(adaptive, serde_json::json!({ "type": "adaptive", "display": "summarized" }));
    let budget = table().row("claude-haiku-4-5").thinking_field(4_000).unwrap();
    assert_eq!(budget, serde_json::json!({ "type": "enabled", "budget_tokens": 2_000 }));
    assert_eq!(table().row("claude-haiku-4-5").thinking_field(2_000), None, "too little room for a budget");
}

#[test]
fn costs_add_up_and_round_upwards() {
    let row = table().row("claude-opus-5-5");
    let usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 500_000,
        cache_creation_input_tokens: 300_000,
        cache_creation_5m_input_tokens: 200_000,
        cache_creation_1h_input_tokens: 100_000,
        cache_read_input_tokens: 2_000_000,
        ..Usage::default()
    };
    // 4 + 10 + 0.2 x 5 + 0.1 x 8 + 2 x 0.2 dollars
    assert_eq!(row.cost_micros(&usage), 16_200_000);
    let one = Usage { cache_read_input_tokens: 1, ..Usage::default() };
    assert_eq!(row.cost_micros(&one), 1, "a fifth of a micro-dollar is not free");
    assert_eq!(row.cost_micros(&Usage::default()), 0);
    let unsplit = Usage { cache_creation_input_tokens: 1_000_000, ..Usage::default() };
    assert_eq!(row.cost_micros(&unsplit), 5_000_000, "writes of unknown lifetime count as 5 minutes");
    let absurd = Usage { output_tokens: u64::MAX, input_tokens: u64::MAX, ..Usage::default() };
    assert_eq!(row.cost_micros(&absurd), u64::MAX);
}

#[test]
fn long_prompts_pay_their_own_prices() {
    let row = table().row("claude-haiku-5-5");
    let short = Usage { input_tokens: 100_000, output_tokens: 1_000_000, ..Usage::default() };
    let long = Usage { cache_read_input_tokens: 100_000, input_tokens: 1, ..short };
    assert_eq!(row.cost_micros(&short), 10_000 + 500_000);
    assert_eq!(row.cost_micros(&long), (100_000 * 50_000 + 500_000) / 1_000_000 + 1 + 2_500_000);
}

#[test]
fn the_bound_is_never_below_the_cost() {
    for id in IDS {
        let row = table().row(id);
        for (body_size, max_tokens) in [(0, 0), (299, 10), (300_000, 64_000), (3_000_000, 128_000)] {
            let bound = row.upper_bound_micros(body_size, max_tokens);
            let tokens = body_size / 3;
            for usage in [
                Usage { input_tokens: tokens, output_tokens: max_tokens, ..Usage::default() },
                Usage {
                    cache_creation_input_tokens: tokens,
                    cache_creation_1h_input_tokens: tokens,
                    output_tokens: max_tokens,
                    ..Usage::default()
                },
            ] {
                assert!(row.cost_micros(&usage) <= bound, "{id} {body_size} {max_tokens}");
            }
        }
    }
}

#[test]
fn a_row_survives_its_json() {
    for id in IDS {
        let row = table().row(id);
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<ModelRow>(&json).unwrap(), row);
    }
}

#[test]
fn a_row_of_an_older_log_is_read() {
    let mut json = serde_json::to_value(table().row("claude-opus-5-5")).unwrap();
    json.as_object_mut().unwrap().remove("effort");
    assert_eq!(serde_json::from_value::<ModelRow>(json).unwrap().effort, []);
}

#[test]
fn own_rows_replace_and_add() {
    let mut row = table().row("claude-opus-5-5");
    row.max_output_tokens = 7;
    row.long_prompt = Some(LongPromptPrices {
        above_input_tokens: 1,
        prices: Prices { input: 1, output: 1, cache_write_5m: 1, cache_write_1h: 1, cache_read: 1 },
    });
    let other = ModelRow { id: "house-model".to_owned(), aliases: vec!["hm".to_owned()], ..row.clone() };
    let text = toml::to_string(&serde_json::json!({ "model": [row, other] })).unwrap();
    let own = table().with_overrides(&text).unwrap();
    assert_eq!(own.find("claude-opus-5-5").unwrap().max_output_tokens, 7);
    assert_eq!(own.find("hm").unwrap().id, "hm");
    assert_eq!(own.rows().count(), table().rows().count() + 1);
    assert_eq!(own.row("nobody").max_output_tokens, table().row("nobody").max_output_tokens);
    assert!(own.find("house-model").unwrap().thinking.accepts.contains(&ThinkingType::Adaptive));

    let twice = format!("{text}\n{text}");
    assert!(matches!(
        table().with_overrides(&twice),
        Err(ModelTableError::Duplicate { .. } | ModelTableError::Parse(_))
    ));
    let clash =
        toml::to_string(&serde_json::json!({ "model": [ModelRow { id: "claude-opus-5".to_owned(), ..other }] }))
            .unwrap();
    let clash = clash.replace("\"hm\"", "\"claude-sonnet-5\"");
    assert!(
        matches!(table().with_overrides(&clash), Err(ModelTableError::Duplicate { id }) if id == "claude-sonnet-5")
    );
    assert!(matches!(table().with_overrides("[[model]]\nid = 5"), Err(ModelTableError::Parse(_))));
}

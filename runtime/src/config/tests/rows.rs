//! What `retrace config show` has to show.

use super::Machine;
use crate::config::{KEYS, Key};
use std::collections::BTreeSet;

#[test]
fn the_table_of_keys_is_complete_and_unambiguous() {
    let keys: BTreeSet<Key> = KEYS.iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), KEYS.len());
    // The last variant: whoever adds one behind it must add a row.
    assert_eq!(KEYS.len(), Key::Pure as usize + 1);
    let names: BTreeSet<&str> = KEYS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), KEYS.len());
    let variables: Vec<&str> = KEYS.iter().flat_map(|row| row.env).copied().collect();
    assert_eq!(variables.iter().collect::<BTreeSet<_>>().len(), variables.len());
    assert!(KEYS.iter().all(|row| row.dotenv.is_none_or(|name| row.env.contains(&name))));
}

#[test]
fn secrets_show_four_characters_at_most() {
    let long = Machine::new().env("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdefWXYZ");
    assert_eq!(long.row(Key::ApiKey), "set (…WXYZ) <- env ANTHROPIC_API_KEY");
    let short = Machine::new().env("ANTHROPIC_API_KEY", "short-key");
    assert_eq!(short.row(Key::ApiKey), "set <- env ANTHROPIC_API_KEY");
    for machine in [long, short] {
        let config = machine.config();
        let all = format!("{config:?} {:?}", config.rows());
        assert!(!all.contains("0123456789") && !all.contains("short-key"), "{all}");
    }
}

#[test]
fn amounts_are_shown_as_they_can_be_written() {
    for (given, shown) in [("2", "2.00"), ("2.5", "2.50"), ("0.125", "0.125"), ("0.000001", "0.000001")] {
        let machine = Machine::new().env("RETRACE_MAX_COST", given);
        assert_eq!(machine.row(Key::MaxCost), format!("{shown} <- env RETRACE_MAX_COST"));
    }
}

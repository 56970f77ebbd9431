//! A crate's manifest, cut down to what building and testing the crate itself needs, so that cargo resolves it without a
//! network: no optional and no development dependencies, no benchmarks and examples, a workspace of its own.

use toml::{Table, Value};

/// The manifest without what is not needed; `None` when it is not TOML.
pub(super) fn without_network(text: &str) -> Option<String> {
    let mut manifest: Table = text.parse().ok()?;
    let mut gone = drop_optional(&mut manifest);
    manifest.remove("dev-dependencies");
    for section in ["bench", "example"] {
        manifest.remove(section);
    }
    if let Some(Value::Table(targets)) = manifest.get_mut("target") {
        for target in targets.iter_mut().filter_map(|(_, target)| target.as_table_mut()) {
            target.remove("dev-dependencies");
            gone.extend(drop_optional(target));
        }
    }
    if let Some(Value::Table(features)) = manifest.get_mut("features") {
        for feature in features.iter_mut().filter_map(|(_, feature)| feature.as_array_mut()) {
            feature.retain(|item| item.as_str().is_none_or(|item| !names_any(item, &gone)));
        }
    }
    // Not a member of whatever workspace lies above the copy.
    manifest.insert("workspace".to_owned(), Value::Table(Table::new()));
    toml::to_string(&manifest).ok()
}

/// Takes the optional dependencies out of a table with a `dependencies` section; returns their names.
fn drop_optional(table: &mut Table) -> Vec<String> {
    let Some(Value::Table(dependencies)) = table.get_mut("dependencies") else { return Vec::new() };
    let optional = |value: &Value| value.get("optional").and_then(Value::as_bool) == Some(true);
    let gone: Vec<String> =
        dependencies.iter().filter(|(_, value)| optional(value)).map(|(name, _)| name.clone()).collect();
    gone.iter().for_each(|name| drop(dependencies.remove(name)));
    gone
}

/// Whether a feature's item (`name`, `dep:name`, `name/feature`, `name?/feature`) is about one of these dependencies.
fn names_any(item: &str, names: &[String]) -> bool {
    let name = item.strip_prefix("dep:").unwrap_or(item);
    let name = name.split_once('/').map_or(name, |(name, _)| name).trim_end_matches('?');
    names.iter().any(|gone| gone == name)
        && (item.contains(':') || item.contains('/') || names.iter().any(|gone| gone == item))
}

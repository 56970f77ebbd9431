//! LoCoMo: very long dialogues of two people, with questions and the turns that answer them.
//!
//! The file is a list of conversations as its authors publish it. Sessions become one line of turns; a turn's text is who said
//! it, what was said, and what a shown picture shows. Summaries and observations of the file are not read: they were made by a
//! model, and are no part of the dialogue. Questions of the fifth kind (about what was never said) are left out.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A dialogue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocomoConversation {
    /// Its id.
    pub id: String,
    /// What was said, in order.
    pub turns: Vec<LocomoTurn>,
    /// What is asked about it.
    pub questions: Vec<LocomoQuestion>,
}

/// Something that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocomoTurn {
    /// Whether the first of the two says it.
    pub is_first_speaker: bool,
    /// Who says what.
    pub text: String,
    /// When its session began, in milliseconds since 1970, and one more for each turn of it.
    pub at_ms: i64,
}

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocomoQuestion {
    /// What is asked.
    pub text: String,
    /// The places of the turns that hold the answer, in order, none twice, at least one.
    pub evidence: Vec<usize>,
    /// 1: several places, 2: time, 3: common knowledge, 4: one place.
    pub category: u64,
}

/// Reads the conversations of a file.
///
/// # Errors
/// When the file cannot be read or is none of these.
pub fn locomo_conversations(path: &Path) -> io::Result<Vec<LocomoConversation>> {
    let file: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    file.iter()
        .map(|value| conversation(value).ok_or_else(|| io::Error::other("not a conversation of LoCoMo")))
        .collect()
}

fn conversation(value: &Value) -> Option<LocomoConversation> {
    let dialogue = value["conversation"].as_object()?;
    let first = dialogue.get("speaker_a")?.as_str()?;
    let number = |name: &str| name.strip_prefix("session_")?.parse::<u32>().ok();
    let mut sessions: Vec<(u32, &String)> = dialogue.keys().filter_map(|name| Some((number(name)?, name))).collect();
    sessions.sort_unstable();
    let mut conversation = LocomoConversation { id: value["sample_id"].as_str()?.to_owned(), ..Default::default() };
    let mut places = BTreeMap::new();
    for (_, name) in sessions {
        let begun = dialogue.get(&format!("{name}_date_time"))?.as_str()?;
        for (at_ms, turn) in (time(begun)?..).zip(dialogue[name].as_array()?) {
            let speaker = turn["speaker"].as_str()?;
            let shown = turn["blip_caption"].as_str().map(|caption| format!(" {caption}")).unwrap_or_default();
            places.insert(turn["dia_id"].as_str()?, conversation.turns.len());
            conversation.turns.push(LocomoTurn {
                is_first_speaker: speaker == first,
                text: format!("{speaker}: {}{shown}", turn["text"].as_str()?),
                at_ms,
            });
        }
    }
    conversation.questions = value["qa"].as_array()?.iter().filter_map(|question| asked(question, &places)).collect();
    Some(conversation)
}

/// A question with evidence; some of the file have none, or name turns that are not there.
fn asked(value: &Value, places: &BTreeMap<&str, usize>) -> Option<LocomoQuestion> {
    let category = value["category"].as_u64().filter(|category| *category != 5)?;
    // Several turns may stand in one entry: `D8:6; D9:17`.
    let names = value["evidence"].as_array()?.iter().filter_map(Value::as_str);
    let names = names.flat_map(|names| names.split([';', ',', ' ']));
    let mut evidence: Vec<usize> = names.filter_map(|name| places.get(name.trim()).copied()).collect();
    evidence.sort_unstable();
    evidence.dedup();
    let text = value["question"].as_str()?.to_owned();
    (!evidence.is_empty()).then_some(LocomoQuestion { text, evidence, category })
}

/// `1:56 pm on 8 May, 2023`, taken as UTC.
fn time(text: &str) -> Option<i64> {
    let time = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", text).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
#[path = "locomo_tests.rs"]
mod tests;

//! LoCoMo is read as its authors wrote it.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{LocomoQuestion, LocomoTurn, locomo_conversations};

#[test]
fn a_conversation_is_read_as_its_authors_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("locomo.json");
    let turn =
        |id: &str, speaker: &str, text: &str| serde_json::json!({ "dia_id": id, "speaker": speaker, "text": text });
    let mut picture = turn("D2:1", "Ada", "Look!");
    picture["blip_caption"] = "a photo of a lake".into();
    let question = |text: &str, category: u64, evidence: &[&str]| serde_json::json!({ "question": text, "category": category, "evidence": evidence, "answer": 1 });
    let value = serde_json::json!([{
        "sample_id": "c",
        "conversation": {
            "speaker_a": "Ada", "speaker_b": "Ben",
            "session_10": [turn("D10:1", "Ben", "Late.")], "session_10_date_time": "12:00 am on 1 January, 2024",
            "session_2": [picture, turn("D2:2", "Ben", "Nice.")], "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_1_date_time": "1:00 pm on 8 May, 2023",
        },
        "qa": [
            question("where?", 4, &["D2:1"]), question("both?", 1, &["D10:1; D2:2", "D2:2"]),
            question("never?", 5, &["D2:1"]), question("nowhere?", 3, &["D9:9", "D"]),
        ],
    }]);
    std::fs::write(&file, value.to_string()).unwrap();
    let read = locomo_conversations(&file).unwrap();
    let turn = |is_first_speaker, text: &str, at_ms| LocomoTurn { is_first_speaker, text: text.into(), at_ms };
    let begun = 1_683_554_160_000;
    assert_eq!(
        read[0].turns,
        [
            turn(true, "Ada: Look! a photo of a lake", begun),
            turn(false, "Ben: Nice.", begun + 1),
            turn(false, "Ben: Late.", 1_704_067_200_000),
        ]
    );
    let question = |text: &str, category, evidence: &[usize]| LocomoQuestion {
        text: text.into(),
        evidence: evidence.to_vec(),
        category,
    };
    assert_eq!(read[0].questions, [question("where?", 4, &[0]), question("both?", 1, &[1, 2])]);
}

#[test]
fn anything_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.json");
    for text in ["", "{}", "[{}]", "[{\"conversation\":{}}]"] {
        std::fs::write(&file, text).unwrap();
        assert!(locomo_conversations(&file).is_err(), "{text}");
    }
}

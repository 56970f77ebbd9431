//! JSON objects whose values stay the raw text they came as, in the order they came.
//!
//! `serde_json::Value` would rewrite numbers (`1e3`, integers beyond 64 bits) and white space; an answer has to go back
//! exactly, so only the fields that stream in pieces are ever rebuilt.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of one JSON object, each value as raw JSON text.
#[derive(Debug, Clone, Default)]
pub(super) struct RawFields(Vec<(String, String)>);

impl RawFields {
    /// The raw JSON text of the value at `name`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The string at `name`; `None` when it is missing or no string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Puts the raw JSON text `value` at `name`: in place if the field exists, at the end otherwise.
    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Appends the object as JSON text to `out`.
    pub(super) fn write(&self, out: &mut String) {
        out.push('{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&quoted(key));
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
    }
}

/// `text` as a JSON string, quotes included.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for RawFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RawFields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields, A::Error> {
                let mut fields = RawFields::default();
                // A repeated key takes the last value, as JSON parsers do.
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.set(&key, value.get().to_owned());
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

//! Upcasters: pure functions that lift a payload from schema n to n+1, so that folds only know today's format.
//!
//! When a payload struct changes, its schema number in [`crate::payload`] goes up by one, the old struct moves into
//! a file of its own beside this one, and a step is added to [`Upcasters::shipped`]. Golden files of every old format stay for ever.

mod first_schemas;

use crate::codec::CodecError;

/// A function from the bytes of one schema to the bytes of the next.
pub type Step = fn(&[u8]) -> Result<Vec<u8>, CodecError>;

/// The known steps, each for a kind and the schema it starts from.
#[derive(Debug, Clone, Default)]
pub struct Upcasters {
    steps: Vec<(&'static str, u16, Step)>,
}

impl Upcasters {
    /// The steps this version ships.
    #[must_use]
    pub fn shipped() -> Self {
        first_schemas::steps()
    }

    /// These steps and one more.
    #[must_use]
    pub fn with(mut self, kind: &'static str, from_schema: u16, step: Step) -> Self {
        self.steps.push((kind, from_schema, step));
        self
    }

    /// Lifts `bytes` from schema `from` to schema `to`; `None` when they already are of that schema.
    ///
    /// # Errors
    /// When a step is missing or refuses the bytes.
    pub fn lift(&self, kind: &str, from: u16, to: u16, bytes: &[u8]) -> Result<Option<Vec<u8>>, CodecError> {
        let mut lifted: Option<Vec<u8>> = None;
        for schema in from..to {
            let found = self.steps.iter().find(|(k, s, _)| *k == kind && *s == schema);
            let (_, _, step) = found.ok_or_else(|| CodecError::Malformed {
                what: kind.to_owned(),
                why: format!("there is no upcaster from schema {schema}"),
            })?;
            lifted = Some(step(lifted.as_deref().unwrap_or(bytes))?);
        }
        Ok(lifted)
    }
}

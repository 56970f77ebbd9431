//! A path that crosses the wire unharmed, also when it is not UTF-8.
//!
//! On the wire it is a JSON string when it can be one, and `{"hex": "…"}` when it cannot.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A path of the guest's file system, byte for byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawPath(PathBuf);

impl RawPath {
    /// The path itself.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The path itself, owned.
    #[must_use]
    pub fn into_path_buf(self) -> PathBuf {
        self.0
    }
}

impl<P: AsRef<Path>> From<P> for RawPath {
    fn from(path: P) -> Self {
        Self(path.as_ref().to_path_buf())
    }
}

impl fmt::Debug for RawPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl fmt::Display for RawPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.display(), formatter)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Text(String),
    Bytes { hex: String },
}

impl Serialize for RawPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => Wire::Bytes { hex: to_hex(self.0.as_os_str().as_bytes()) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Wire::deserialize(deserializer)? {
            Wire::Text(text) => Ok(Self(PathBuf::from(text))),
            Wire::Bytes { hex } => from_hex(&hex)
                .map(|bytes| Self(PathBuf::from(OsString::from_vec(bytes))))
                .ok_or_else(|| de::Error::custom("path is not valid hex")),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
#[path = "raw_path_tests.rs"]
mod raw_path_tests;

//! Values as their source has them, and how they become what their key wants. Every refusal says what would fit.

use std::path::{Path, PathBuf};

/// Sizes are below this; the parser makes the largest number of what is too large for one.
const MAX_SIZE_BYTES: u64 = 1 << 60;

/// A value before anybody knows what key it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raw {
    /// Text; all that the environment and flags have.
    Text(String),
    /// A TOML integer.
    Integer(i64),
    /// A TOML float, as it was written.
    Decimal(String),
    /// A TOML boolean.
    Bool(bool),
    /// A TOML array of strings.
    List(Vec<String>),
}

/// Why a value does not fit, in words that follow the key's name.
pub(super) type Misfit = String;

impl Raw {
    /// The value as one line of text without control characters, at most `max_bytes` long.
    pub(super) fn line(&self, max_bytes: usize) -> Result<String, Misfit> {
        let Self::Text(text) = self else { return Err("must be text".to_owned()) };
        let text = text.trim();
        if text.is_empty() {
            return Err("must not be empty".to_owned());
        }
        if text.len() > max_bytes || text.chars().any(char::is_control) {
            return Err(format!("must be one line of at most {max_bytes} bytes"));
        }
        Ok(text.to_owned())
    }

    /// A whole number from 1 on.
    pub(super) fn number<T: TryFrom<u64>>(&self) -> Result<T, Misfit> {
        let misfit = || "must be a whole number from 1 on that is not too large".to_owned();
        let number: u64 = match self {
            Self::Text(text) => text.trim().replace('_', "").parse().map_err(|_| misfit())?,
            Self::Integer(number) => u64::try_from(*number).map_err(|_| misfit())?,
            Self::Decimal(_) | Self::Bool(_) | Self::List(_) => return Err(misfit()),
        };
        if number == 0 { Err(misfit()) } else { T::try_from(number).map_err(|_| misfit()) }
    }

    /// A limit: `none`, or what `parse` makes of it.
    pub(super) fn limit<T>(&self, parse: impl FnOnce(&Self) -> Result<T, Misfit>) -> Result<Option<T>, Misfit> {
        match self {
            Self::Text(text) if text.trim().eq_ignore_ascii_case("none") => Ok(None),
            other => parse(other).map(Some).map_err(|why| format!("{why}, or `none`")),
        }
    }

    /// Yes or no.
    pub(super) fn switch(&self) -> Result<bool, Misfit> {
        let misfit = || "must be `true` or `false`".to_owned();
        match self {
            Self::Bool(value) => Ok(*value),
            Self::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(true),
                "false" | "0" | "no" | "off" => Ok(false),
                _ => Err(misfit()),
            },
            Self::Integer(_) | Self::Decimal(_) | Self::List(_) => Err(misfit()),
        }
    }

    /// US dollars, in millionths.
    pub(super) fn money_microusd(&self) -> Result<u64, Misfit> {
        let misfit = || "must be an amount in US dollars like `2.50`".to_owned();
        let text = match self {
            Self::Text(text) | Self::Decimal(text) => text.trim().strip_prefix('$').unwrap_or(text.trim()).to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Bool(_) | Self::List(_) => return Err(misfit()),
        };
        let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 6 {
            return Err(misfit());
        }
        let whole: u64 = whole.parse().map_err(|_| misfit())?;
        let part: u64 = format!("{part:0<6}").parse().map_err(|_| misfit())?;
        let total = whole.checked_mul(1_000_000).and_then(|sum| sum.checked_add(part)).ok_or_else(misfit)?;
        if total == 0 { Err(misfit()) } else { Ok(total) }
    }

    /// A length of time, in milliseconds.
    pub(super) fn time_ms(&self) -> Result<u64, Misfit> {
        let misfit = || "must be a length of time with a unit, like `30m` or `1h 30m`".to_owned();
        let Self::Text(text) = self else { return Err(misfit()) };
        let length: jiff::SignedDuration = text.trim().parse().map_err(|_| misfit())?;
        match u64::try_from(length.as_millis()) {
            Ok(ms) if ms > 0 => Ok(ms),
            _ => Err(misfit()),
        }
    }

    /// A size, in bytes.
    pub(super) fn size_bytes(&self) -> Result<u64, Misfit> {
        let misfit = || "must be a size with a unit, like `512 MiB` or `2GB`".to_owned();
        let Self::Text(text) = self else { return Err(misfit()) };
        // A bare number would be bytes, which nobody means.
        if !text.trim().ends_with(|last: char| last.is_ascii_alphabetic()) {
            return Err(misfit());
        }
        match text.trim().parse::<bytesize::ByteSize>() {
            Ok(size) if (1..MAX_SIZE_BYTES).contains(&size.as_u64()) => Ok(size.as_u64()),
            _ => Err(misfit()),
        }
    }

    /// A number of processors, in hundredths.
    pub(super) fn cpus_percent(&self) -> Result<u32, Misfit> {
        let misfit = || "must be a number of processors like `2` or `0.5`".to_owned();
        let number: f64 = match self {
            Self::Text(text) | Self::Decimal(text) => text.trim().parse().map_err(|_| misfit())?,
            Self::Integer(number) => f64::from(i32::try_from(*number).map_err(|_| misfit())?),
            Self::Bool(_) | Self::List(_) => return Err(misfit()),
        };
        let percent = (number * 100.0).round();
        // In bounds a float of whole value is a whole number.
        if (1.0..=1_000_000.0).contains(&percent) { Ok(percent as u32) } else { Err(misfit()) }
    }

    /// Several lines of text; in one text they are separated by commas.
    pub(super) fn lines(&self) -> Result<Vec<String>, Misfit> {
        let lines = self.list(',')?;
        let fits = |line: &String| !line.is_empty() && line.len() <= 1_000 && !line.chars().any(char::is_control);
        if lines.iter().all(fits) { Ok(lines) } else { Err("must be a list of lines of text".to_owned()) }
    }

    /// A path: `~/` is the home folder, and what is relative starts at `base`.
    pub(super) fn path(&self, base: &Path) -> Result<PathBuf, Misfit> {
        let Self::Text(text) = self else { return Err("must be a path".to_owned()) };
        one_path(text, base)
    }

    /// Several paths; in text they are separated by `:`.
    pub(super) fn paths(&self, base: &Path) -> Result<Vec<PathBuf>, Misfit> {
        self.list(':')?.iter().map(|text| one_path(text, base)).collect()
    }

    /// Names of files, without folders; in text they are separated by commas.
    pub(super) fn names(&self) -> Result<Vec<String>, Misfit> {
        let names = self.list(',')?;
        let fits = |name: &String| {
            !name.is_empty() && name.len() <= 255 && !name.contains(['/', '\0']) && name != "." && name != ".."
        };
        if names.iter().all(fits) { Ok(names) } else { Err("must be names of files, without folders".to_owned()) }
    }

    fn list(&self, separator: char) -> Result<Vec<String>, Misfit> {
        match self {
            Self::List(items) => Ok(items.clone()),
            Self::Text(text) => {
                let parts = text.split(separator).map(|part| part.trim().to_owned());
                Ok(parts.filter(|part| !part.is_empty()).collect())
            }
            Self::Integer(_) | Self::Decimal(_) | Self::Bool(_) => Err("must be a list of strings".to_owned()),
        }
    }
}

fn one_path(text: &str, base: &Path) -> Result<PathBuf, Misfit> {
    let text = text.trim();
    if text.is_empty() || text.contains('\0') {
        return Err("must be a path".to_owned());
    }
    match text.strip_prefix("~/").or_else(|| (text == "~").then_some("")) {
        Some(rest) => match etcetera::home_dir() {
            Ok(home) => Ok(home.join(rest)),
            Err(_) => Err("has `~`, and no home folder is known".to_owned()),
        },
        None => Ok(base.join(text)),
    }
}

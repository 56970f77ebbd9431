//! Dates that a query names: "what did we decide in May 2026", "the run of 2026-05-08". English names of months, and numbers.

use jiff::tz::TimeZone;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Words before a month or a year that show that one is meant.
const BEFORE_DATES: &[&str] = &[
    "in", "of", "on", "during", "since", "until", "till", "before", "after", "by", "from", "last", "next", "early",
    "mid", "late", "this", "year", "month",
];
/// How many words of a query are looked at.
const WORDS: usize = 256;

/// Years, months and days of the month that are named. Empty lists say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dates {
    years: Vec<i16>,
    months: Vec<i8>,
    days: Vec<i8>,
}

impl Dates {
    /// Those that a text names.
    pub(super) fn in_text(text: &str) -> Self {
        let words: Vec<&str> = text
            .split(|letter: char| letter.is_whitespace() || ",;()?!\"".contains(letter))
            .map(|word| word.trim_matches(|letter: char| letter.is_ascii_punctuation()))
            .filter(|word| !word.is_empty())
            .take(WORDS)
            .collect();
        let mut dates = Self::default();
        for at in 0..words.len() {
            dates.take(&words, at);
        }
        dates
    }

    fn take(&mut self, words: &[&str], at: usize) {
        let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or_default();
        let (before, here, after) = (word(at.checked_sub(1)), word(Some(at)), word(at.checked_add(1)));
        if let Some((year, month, day)) = numeric(here) {
            add(&mut self.years, year);
            add(&mut self.months, month);
            self.days.extend(day.filter(|day| !self.days.contains(day)));
            return;
        }
        let introduced = BEFORE_DATES.iter().any(|word| word.eq_ignore_ascii_case(before));
        if let Some(year) = year(here) {
            if introduced
                || month(before).is_some()
                || day(before).is_some() && month(word(at.checked_sub(2))).is_some()
            {
                add(&mut self.years, year);
            }
            return;
        }
        let Some((number, sure)) = month(here) else { return };
        let beside = [before, after].into_iter().any(|word| day(word).is_some() || year(word).is_some());
        if sure || beside || introduced {
            add(&mut self.months, number);
            self.days.extend([before, after].into_iter().filter_map(day));
        }
    }

    /// How many of the things that are named agree with a moment (UTC), as a share; 0 if nothing is named.
    pub(super) fn fit(&self, at_ms: i64) -> f32 {
        let named = [!self.years.is_empty(), !self.months.is_empty(), !self.days.is_empty()];
        let count = named.into_iter().filter(|named| *named).count();
        let Some(moment) = (count > 0).then(|| jiff::Timestamp::from_millisecond(at_ms).ok()).flatten() else {
            return 0.0;
        };
        let moment = moment.to_zoned(TimeZone::UTC);
        let agree = [
            self.years.contains(&moment.year()),
            self.months.contains(&moment.month()),
            self.days.contains(&moment.day()),
        ];
        agree.into_iter().filter(|agree| *agree).count() as f32 / count as f32
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

/// `2026-05-08` or `2026-05`.
fn numeric(word: &str) -> Option<(i16, i8, Option<i8>)> {
    let mut parts = word.split('-');
    let (first, second, third) = (year(parts.next()?)?, parts.next()?, parts.next());
    let month = second.parse().ok().filter(|month| second.len() == 2 && (1..=12).contains(month))?;
    // A time may follow the day: `2026-05-08T12:00`.
    Some((first, month, third.and_then(|third| day(third.split('T').next().unwrap_or_default()))))
}

fn year(word: &str) -> Option<i16> {
    let digits = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| digits && (1970..2100).contains(year))
}

fn day(word: &str) -> Option<i8> {
    let number = word.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let ending = &word[number.len()..];
    let fits = number.len() <= 2 && ["", "st", "nd", "rd", "th"].contains(&ending);
    number.parse().ok().filter(|day| fits && (1..=31).contains(day))
}

/// The month of that name, and whether the word means nothing else.
fn month(word: &str) -> Option<(i8, bool)> {
    if word.len() < 3 || !word.is_ascii() {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let place =
        MONTHS.iter().position(|month| *month == lower || month.get(..3) == Some(lower.as_str()) || lower == "sept")?;
    let place = if lower == "sept" { 8 } else { place };
    let sure = lower.len() > 3 && !["march", "august"].contains(&lower.as_str());
    Some((i8::try_from(place + 1).ok()?, sure))
}

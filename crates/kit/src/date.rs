//! Calendar days in UTC, as baselines and reports write them.

use std::fmt;
use std::str::FromStr;

use accord_contract::calendar::Day;
use accord_contract::wire::{DecodeError, Form, Pointer, Shape, Value, Wire};
use thiserror::Error;

/// A day that exists, from the year 1 to 9999.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Date(Day);

/// A text that is not a day.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("expected a day that exists, written YYYY-MM-DD")]
pub struct NotADate;

impl Date {
    /// Today, by the system's clock.
    pub fn today() -> Self {
        Self::at(accord_system::unix_millis() / 1000)
    }

    fn at(seconds: i64) -> Self {
        Self(Day::from_number(seconds / SECONDS_A_DAY))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let day = Day::parse(text).map_err(|_| NotADate)?;
        (day.year() > 0).then_some(Self(day)).ok_or(NotADate)
    }
}

impl Wire for Date {
    fn shape() -> Shape {
        Shape::Text
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        text.parse().map_err(|NotADate| {
            let mut error = DecodeError::wrong_value(at, &Self::shape(), &text.into());
            error.expected = "a day that exists, written YYYY-MM-DD".into();
            error
        })
    }

    fn write(&self, _: Form) -> Value {
        self.to_string().into()
    }
}

/// Seconds since 1970 as an RFC 3339 time in UTC.
pub(crate) fn timestamp(seconds: i64) -> String {
    let day = seconds % SECONDS_A_DAY;
    let (hours, minutes) = (day / 3600, day / 60 % 60);
    format!(
        "{}T{hours:02}:{minutes:02}:{:02}Z",
        Date::at(seconds),
        day % 60
    )
}

const SECONDS_A_DAY: i64 = 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use super::{Date, timestamp};

    #[test]
    fn days_that_exist_are_read_and_written() {
        for text in [
            "2026-11-15",
            "2024-02-29",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
        ] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-1",
            "20261115",
            "2026-11-3é",
            "+026-11-15",
            "",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        assert!("2026-11-15".parse::<Date>().unwrap() < "2026-12-01".parse().unwrap());
    }

    #[test]
    fn moments_are_written_in_utc() {
        let at = timestamp;
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(at(1_794_700_800), "2026-11-15T00:00:00Z");
    }
}

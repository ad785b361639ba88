//! Calendar days in UTC, as baselines and reports write them.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use accord_contract::wire::{DecodeError, Form, Pointer, Shape, Value, Wire};
use thiserror::Error;

/// A day that exists, from the year 1 to 9999.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is not a day.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("expected a day that exists, written YYYY-MM-DD")]
pub struct NotADate;

impl Date {
    /// The day at a moment after 1970.
    pub fn at(moment: SystemTime) -> Self {
        let seconds = moment
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Self::from_days_since_1970(seconds / SECONDS_A_DAY)
    }

    /// Today, by the system's clock.
    pub fn today() -> Self {
        Self::at(SystemTime::now())
    }

    fn from_days_since_1970(mut days: u64) -> Self {
        let mut year = 1970;
        while days >= days_in_year(year) && year < 9999 {
            days -= days_in_year(year);
            year += 1;
        }
        let mut month = 1;
        while days >= u64::from(days_in_month(year, month)) && month < 12 {
            days -= u64::from(days_in_month(year, month));
            month += 1;
        }
        let day = u8::try_from(days + 1).unwrap_or(31);
        Self { year, month, day }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return Err(NotADate);
        }
        let number = |range: std::ops::Range<usize>| -> Result<u16, NotADate> {
            let digits = text.get(range).ok_or(NotADate)?;
            match digits.bytes().all(|byte| byte.is_ascii_digit()) {
                true => digits.parse().map_err(|_| NotADate),
                false => Err(NotADate),
            }
        };
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (month, day) = (month as u8, day as u8);
        let exists = year > 0
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day);
        exists.then_some(Self { year, month, day }).ok_or(NotADate)
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

/// A moment as RFC 3339 writes it, in UTC, to the second.
pub(crate) fn timestamp(moment: SystemTime) -> String {
    let seconds = moment
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let day = seconds % SECONDS_A_DAY;
    let (hours, minutes) = (day / 3600, day / 60 % 60);
    format!(
        "{}T{hours:02}:{minutes:02}:{:02}Z",
        Date::at(moment),
        day % 60
    )
}

fn days_in_year(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

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
        let at = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(at(1_794_700_800), "2026-11-15T00:00:00Z");
    }
}

//! Days of the Gregorian calendar, in UTC: the one place that knows how long a month is.
//!
//! Invariants:
//! - a [`Day`] exists, in a year from 0 to 9999, so that it has a text of ten characters;
//! - days compare as time, and what a day is written as, read again, is the same day.

use std::fmt;

/// A day that exists.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that names no day.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DayError {
    /// It does not have the form.
    #[error("expected a day, written YYYY-MM-DD")]
    Form,
    /// It has the form, and there is no such day.
    #[error("there is no such day")]
    Impossible,
}

impl Day {
    /// The first day that has a text.
    pub const MIN: Self = Self {
        year: 0,
        month: 1,
        day: 1,
    };
    /// The last day that has a text.
    pub const MAX: Self = Self {
        year: 9999,
        month: 12,
        day: 31,
    };

    /// Reads `YYYY-MM-DD`.
    ///
    /// # Errors
    /// When the text has another form, or there is no such day.
    pub fn parse(text: &str) -> Result<Self, DayError> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
            return Err(DayError::Form);
        };
        let year = number(&[y1, y2, y3, y4])?;
        let (month, day) = (number(&[m1, m2])? as u8, number(&[d1, d2])? as u8);
        let exists = (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
        exists
            .then_some(Self { year, month, day })
            .ok_or(DayError::Impossible)
    }

    /// The day that lies so many days after the start of 1970; what has no text becomes the nearest
    /// that has one.
    pub fn from_number(days: i64) -> Self {
        if days <= Self::MIN.number() {
            return Self::MIN;
        }
        if days >= Self::MAX.number() {
            return Self::MAX;
        }
        // 400 years have 146097 days; the guess is at most one year off.
        let mut year = 1970 + (days * 400).div_euclid(146_097);
        while day_number(year, 1, 1) > days {
            year -= 1;
        }
        while day_number(year + 1, 1, 1) <= days {
            year += 1;
        }
        let begun = |month: &i64| day_number(year, *month, 1) <= days;
        let month = (1..=12).rev().find(begun).unwrap_or(1);
        Self {
            year: year as u16,
            month: month as u8,
            day: (days - day_number(year, month, 1) + 1) as u8,
        }
    }

    /// How many days it lies after the start of 1970.
    pub fn number(self) -> i64 {
        day_number(self.year.into(), self.month.into(), self.day.into())
    }

    /// Its year.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// Its month, from 1 to 12.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// Its day of the month, from 1 on.
    pub const fn day(self) -> u8 {
        self.day
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day } = self;
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

fn day_number(year: i64, month: i64, day: i64) -> i64 {
    // Counted from 1 March, leap days come last in their year.
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (months * 153 + 2) / 5 + day - 1 - 719_468
}

fn month_length(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

fn number(digits: &[u8]) -> Result<u16, DayError> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u16::from(digit - b'0'));
        Ok(number * 10 + digit.ok_or(DayError::Form)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_number_and_one_text() {
        let mut expected = Day::MIN.number();
        for year in 0..=9999 {
            for month in 1..=12 {
                for day in 1..=month_length(year, month) {
                    let named = Day { year, month, day };
                    assert_eq!(named.number(), expected);
                    assert_eq!(Day::from_number(expected), named);
                    expected += 1;
                }
            }
        }
        assert_eq!(Day::from_number(0).to_string(), "1970-01-01");
        assert_eq!(Day::from_number(i64::MAX), Day::MAX);
        assert_eq!(Day::from_number(i64::MIN), Day::MIN);
    }

    #[test]
    fn texts_that_name_no_day_are_told_from_those_that_have_no_form() {
        for text in ["0000-01-01", "2024-02-29", "2000-02-29", "9999-12-31"] {
            assert_eq!(Day::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
        ] {
            assert_eq!(Day::parse(text), Err(DayError::Impossible), "{text}");
        }
        for text in [
            "",
            "2026-1-1",
            "20261115",
            "2026-11-3é",
            "+026-11-15",
            "2026-11-15 ",
        ] {
            assert_eq!(Day::parse(text), Err(DayError::Form), "{text}");
        }
    }
}

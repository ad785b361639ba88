use std::fmt;

use jiff::civil;

use super::Time;
use crate::wire::{DecodeError, Form, Pointer, Shape, TextForm, Value, Wire};

/// A day of the Gregorian calendar, from year 0 to year 9999.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Date(pub(super) civil::Date);

/// Why a text is not a date.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DateError {
    /// It does not have the form `YYYY-MM-DD`.
    #[error("expected a day, written YYYY-MM-DD")]
    Form,
    /// The day does not exist.
    #[error("there is no such day")]
    Impossible,
}

impl Date {
    /// Reads `YYYY-MM-DD`. Fails when the text has another form, or there is no such day.
    pub fn parse(text: &str) -> Result<Self, DateError> {
        // By hand, because jiff also accepts other forms, such as a signed year of six digits.
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
            return Err(DateError::Form);
        };
        let number = |digits: &[u8]| digits_to_number(digits).ok_or(DateError::Form);
        let year = number(&[y1, y2, y3, y4])?;
        let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
        let date = civil::Date::new(year as i16, month as i8, day as i8);
        date.map(Self).map_err(|_| DateError::Impossible)
    }

    /// The start of the day, in UTC.
    pub fn start(self) -> Time {
        Time(self.0.at(0, 0, 0, 0))
    }

    /// Whether a leap second can be inserted at the end of this day.
    pub(super) fn ends_half_year(self) -> bool {
        matches!((self.0.month(), self.0.day()), (6, 30) | (12, 31))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.0.year(), self.0.month(), self.0.day());
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Wire for Date {
    fn shape() -> Shape {
        let form = TextForm::ANY.format("date").pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
        Shape::Form(form.example("2026-04-18"))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        Self::parse(&text).map_err(|_| {
            let mut error = DecodeError::wrong_value(at, &Self::shape(), &text.into());
            error.expected = "a day that exists, written YYYY-MM-DD".into();
            error
        })
    }

    fn write(&self, _: Form) -> Value {
        self.to_string().into()
    }
}

/// The number that at most nine ASCII digits spell.
pub(super) fn digits_to_number(digits: &[u8]) -> Option<u32> {
    let mut digits = digits.iter();
    digits.try_fold(0, |number, digit| Some(number * 10 + char::from(*digit).to_digit(10)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_do_not_exist_differ_from_texts_of_another_form() {
        for text in ["0000-01-01", "2024-02-29", "2000-02-29", "9999-12-31"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for text in
            ["2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-01-00"]
        {
            assert_eq!(Date::parse(text), Err(DateError::Impossible), "{text}");
        }
        for text in ["", "2026-1-1", "20261115", "2026-11-3é", "+026-11-15", "2026-11-15 "] {
            assert_eq!(Date::parse(text), Err(DateError::Form), "{text}");
        }
    }
}

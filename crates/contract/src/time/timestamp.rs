use std::fmt;

use jiff::SignedDuration;

use super::date::digits_to_number;
use super::{Date, DateError, Time};
use crate::wire::{DecodeError, Form, Pointer, Shape, TextForm, Value, Wire};

/// An RFC 3339 text in UTC, as it was sent, and the time that it names. Equal are equal texts.
/// Clauses: AGENTIC-R-008, AGENTIC-R-111.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Timestamp {
    text: String,
    time: Time,
}

/// The form of a timestamp, for JSON Schema. The parser also refuses what does not exist.
const PATTERN: &str = concat!(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}",
    r"(\.[0-9]{1,9})?(Z|\+00:00)$",
);

/// Why a text is not a timestamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// It does not have the form of RFC 3339.
    #[error("expected an RFC 3339 time in UTC such as 2026-04-18T20:00:00Z")]
    Form,
    /// Its offset is not that of UTC.
    #[error("the time must be in UTC: end it with Z, or with +00:00")]
    Offset,
    /// The day or time does not exist.
    #[error("there is no such date or time")]
    Impossible,
    /// It has more than nine digits after the decimal point.
    #[error("a time has at most nine digits after the decimal point")]
    Fraction,
}

impl From<DateError> for TimeError {
    fn from(error: DateError) -> Self {
        match error {
            DateError::Impossible => Self::Impossible,
            DateError::Form => Self::Form,
        }
    }
}

impl Timestamp {
    /// Reads an RFC 3339 time in UTC.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let bytes = text.as_bytes();
        if bytes.len() < 20 || bytes[10] != b'T' || bytes[13] != b':' || bytes[16] != b':' {
            return Err(TimeError::Form);
        }
        let number = |digits: &[u8]| digits_to_number(digits).ok_or(TimeError::Form);
        // `get`, because byte 10 can be inside a character.
        let date = Date::parse(text.get(..10).ok_or(TimeError::Form)?)?;
        let (hour, minute) = (number(&bytes[11..13])?, number(&bytes[14..16])?);
        let second = number(&bytes[17..19])?;
        let (nanos, offset) = fraction(&bytes[19..])?;
        match offset {
            b"Z" | b"+00:00" => {}
            [b'+' | b'-', h1, h2, b':', m1, m2]
                if [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()) =>
            {
                // A valid offset gets an error of its own, which says how to write the time.
                return Err(TimeError::Offset);
            }
            _ => return Err(TimeError::Form),
        }
        // Unix time has no leap seconds: one is the first second of the next day.
        let leap = second == 60 && (hour, minute) == (23, 59) && date.ends_half_year();
        if hour > 23 || minute > 59 || (second > 59 && !leap) {
            return Err(TimeError::Impossible);
        }
        let seconds = i64::from(hour * 3600 + minute * 60 + second);
        let time = after_midnight(date, SignedDuration::new(seconds, nanos as i32));
        Ok(Self { text: text.to_owned(), time: time.ok_or(TimeError::Impossible)? })
    }

    /// The timestamp that Accord writes for a time.
    pub fn emit(time: Time) -> Self {
        let text = time.to_string();
        Self { text, time }
    }

    /// The point in time.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The text as it was sent.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Wire for Timestamp {
    fn shape() -> Shape {
        let form = TextForm::ANY.format("date-time").pattern(PATTERN);
        Shape::Form(form.example("2026-04-18T20:00:00Z"))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        Self::parse(&text).map_err(|error| {
            let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
            refused.expected = error.to_string();
            refused
        })
    }

    fn write(&self, _: Form) -> Value {
        self.text.as_str().into()
    }
}

/// The time so long after the start of a day; `None` outside the years that have a text.
pub(super) fn after_midnight(date: Date, since: SignedDuration) -> Option<Time> {
    let time = date.start().0.checked_add(since).ok()?;
    (time >= Time::MIN.0).then_some(Time(time))
}

/// The nanoseconds after a decimal point, if there is one, and the remaining bytes.
fn fraction(rest: &[u8]) -> Result<(u32, &[u8]), TimeError> {
    let Some(rest) = rest.strip_prefix(b".") else { return Ok((0, rest)) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match digits {
        0 => Err(TimeError::Form),
        1..=9 => {
            let number = digits_to_number(&rest[..digits]).ok_or(TimeError::Form)?;
            Ok((number * 10_u32.pow(9 - digits as u32), &rest[digits..]))
        }
        _ => Err(TimeError::Fraction),
    }
}

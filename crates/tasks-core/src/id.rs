//! The id of a task: `TASK-`, the day on which it was made, and what tells it from the other tasks
//! of that day.
//!
//! Invariants:
//! - an id is written exactly as it was read;
//! - ids of one day sort in the order in which [`DayNumbers`] gives them out.

use std::fmt;
use std::str::FromStr;

use accord_contract::wire::{DecodeError, Form, Pointer, Shape};
use accord_contract::{Code, Failure, TextForm, Time, Value, Wire};

/// The form of an id, for JSON Schema.
const PATTERN: &str = concat!(
    "^TASK-[0-9]{4}-[0-9]{2}-[0-9]{2}-",
    "([0-9]{3}(-[0-9]{2})?|[2-9A-HJ-NP-Za-km-z]{8})$",
);

/// The highest number of a day, before numbers get a sub-number.
const LAST_NUMBER: u16 = 999;
const LAST_SUB: u8 = 99;

/// The id of a task. It is small, because an index keeps one for every task of a tree.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaskId {
    day: TaskDay,
    serial: Serial,
}

/// The day in an id. It need not be a day of the calendar: the protocol checks only its digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaskDay {
    year: u16,
    month: u8,
    day: u8,
}

/// What tells an id from the others of its day. The order is that of creation.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Serial {
    /// `001` to `999`.
    Number(u16),
    /// `001-01` to `999-99`.
    Sub(u16, u8),
    /// Eight letters and digits. Newer versions of the reference write these.
    Letters([u8; 8]),
}

/// The numbers of one day that are in use. It gives out the next one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DayNumbers {
    number: u16,
    sub: Option<(u16, u8)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected the id of a task, such as TASK-2026-02-09-057")]
pub struct TaskIdError;

impl TaskId {
    /// Clauses: AOF-ID-FORM.
    pub fn parse(text: &str) -> Result<Self, TaskIdError> {
        let rest = text.strip_prefix("TASK-").ok_or(TaskIdError)?;
        let bytes = rest.as_bytes();
        let is_dated = bytes.len() > 11 && [4, 7, 10].iter().all(|&dash| bytes[dash] == b'-');
        if !is_dated || !rest.is_ascii() {
            return Err(TaskIdError);
        }
        let day = TaskDay {
            year: number(&bytes[..4])?,
            month: small(&bytes[5..7])?,
            day: small(&bytes[8..10])?,
        };
        let serial = match &bytes[11..] {
            digits @ [_, _, _] => Serial::Number(number(digits)?),
            [digits @ .., b'-', tens, ones] if digits.len() == 3 => {
                Serial::Sub(number(digits)?, small(&[*tens, *ones])?)
            }
            letters => {
                let letters: [u8; 8] = letters.try_into().map_err(|_| TaskIdError)?;
                if !letters.iter().all(|&letter| is_letter(letter)) {
                    return Err(TaskIdError);
                }
                Serial::Letters(letters)
            }
        };
        Ok(Self { day, serial })
    }

    /// An id of a day that no number tells from others: two copies of a tree never make the same.
    pub fn random(day: TaskDay, random: [u8; 8]) -> Self {
        let letters: Vec<u8> = (b'2'..=b'z').filter(|letter| is_letter(*letter)).collect();
        let letter = |byte: u8| letters[usize::from(byte) % letters.len()];
        Self { day, serial: Serial::Letters(random.map(letter)) }
    }

    pub fn day(self) -> TaskDay {
        self.day
    }
}

impl TaskDay {
    /// The day of a time, in UTC.
    pub fn of(time: Time) -> Self {
        let text = time.to_string();
        // The text of a time starts with four, two and two digits.
        let digits = |from: usize, to: usize| {
            text[from..to].bytes().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'))
        };
        Self { year: digits(0, 4), month: digits(5, 7) as u8, day: digits(8, 10) as u8 }
    }
}

impl DayNumbers {
    pub fn note(&mut self, id: TaskId) {
        match id.serial {
            Serial::Number(number) => self.number = self.number.max(number),
            Serial::Sub(number, sub) => self.sub = self.sub.max(Some((number, sub))),
            // Letters are random: they use no number.
            Serial::Letters(_) => {}
        }
    }

    /// The ids that say which numbers of the day are in use: noting them makes the same numbers.
    pub fn last(self, day: TaskDay) -> impl Iterator<Item = TaskId> {
        let number = (self.number > 0).then_some(Serial::Number(self.number));
        let sub = self.sub.map(|(number, sub)| Serial::Sub(number, sub));
        number.into_iter().chain(sub).map(move |serial| TaskId { day, serial })
    }

    /// The next id of the day, which counts as used from now on, or `task_ids_exhausted`.
    pub fn next(&mut self, day: TaskDay) -> Result<TaskId, Failure> {
        let serial = if self.number < LAST_NUMBER {
            Serial::Number(self.number + 1)
        } else {
            let (number, sub) = match self.sub {
                // A zero is never given out, but is read.
                None | Some((0, _)) => (1, 1),
                Some((number, LAST_SUB..)) => (number + 1, 1),
                Some((number, sub)) => (number, sub + 1),
            };
            if number > LAST_NUMBER {
                let message = format!("every task id of {day} is in use");
                return Err(Failure::new(Code::AofTaskIdsExhausted, message)
                    .suggesting("create the task tomorrow (UTC), or in another project"));
            }
            Serial::Sub(number, sub)
        };
        let id = TaskId { day, serial };
        self.note(id);
        Ok(id)
    }
}

fn number(digits: &[u8]) -> Result<u16, TaskIdError> {
    digits.iter().try_fold(0, |sum, digit| {
        let is_digit = digit.is_ascii_digit();
        is_digit.then(|| sum * 10 + u16::from(digit - b'0')).ok_or(TaskIdError)
    })
}

fn small(digits: &[u8]) -> Result<u8, TaskIdError> {
    number(digits).and_then(|number| u8::try_from(number).map_err(|_| TaskIdError))
}

/// Letters and digits that cannot be mistaken for each other.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() && !b"01IOl".contains(&byte)
}

impl TaskDay {
    fn push(self, text: &mut IdText) {
        text.digits(self.year, 4);
        text.bytes(b"-");
        text.digits(self.month.into(), 2);
        text.bytes(b"-");
        text.digits(self.day.into(), 2);
    }
}

impl fmt::Display for TaskDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = IdText::default();
        self.push(&mut text);
        f.write_str(text.as_str())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = IdText::default();
        text.bytes(b"TASK-");
        self.day.push(&mut text);
        text.bytes(b"-");
        match self.serial {
            Serial::Number(number) => text.digits(number, 3),
            Serial::Sub(number, sub) => {
                text.digits(number, 3);
                text.bytes(b"-");
                text.digits(sub.into(), 2);
            }
            Serial::Letters(letters) => text.bytes(&letters),
        }
        f.write_str(text.as_str())
    }
}

/// The text of an id while it is written. Format strings are too slow for the many paths of ids.
#[derive(Default)]
struct IdText {
    bytes: [u8; 24],
    length: usize,
}

impl IdText {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// A number of at most `count` digits.
    fn digits(&mut self, number: u16, count: usize) {
        let mut rest = number;
        for place in (self.length..self.length + count).rev() {
            self.bytes[place] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.length += count;
    }

    fn as_str(&self) -> &str {
        // Only ASCII is written.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, TaskIdError> {
        Self::parse(text)
    }
}

impl Wire for TaskId {
    fn shape() -> Shape {
        Shape::Form(TextForm::ANY.pattern(PATTERN).example("TASK-2026-02-09-057"))
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
        self.to_string().into()
    }
}

//! Definitions of parameters.
//!
//! Invariant: a parameter is defined once. The definition reads its value, and the document about
//! the routes describes the parameter from the same definition, so that the two cannot differ.

use std::marker::PhantomData;
use std::str::FromStr;

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::{Names, Shape, TextForm, Value, Wire};

use super::Params;
use super::params::{one_of, wrong};
use crate::refuse;

/// What a document says about a parameter.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its name.
    pub name: &'static str,
    /// What its value must be.
    pub shape: Shape,
    /// The value that counts if it is not given.
    pub default: Option<Value>,
}

/// A whole number within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    name: &'static str,
    least: u32,
    most: u32,
    default: Option<u32>,
}

/// A boolean; false if it is not given.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    name: &'static str,
}

/// A word out of a list.
#[derive(Clone, Copy, Debug)]
pub struct Word<N> {
    name: &'static str,
    default: Option<N>,
}

/// A text of a form.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    name: &'static str,
    form: TextForm,
}

/// An id.
#[derive(Clone, Copy, Debug)]
pub struct Id<T> {
    name: &'static str,
    kind: PhantomData<T>,
}

/// A time, or a day that means its start.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    name: &'static str,
}

impl Number {
    /// A number from `least` to `most`.
    pub const fn new(name: &'static str, least: u32, most: u32) -> Self {
        Self { name, least, most, default: None }
    }

    /// The same with a default.
    #[must_use]
    pub const fn or(mut self, default: u32) -> Self {
        self.default = Some(default);
        self
    }

    /// Reads it, if it is given or has a default.
    ///
    /// Clauses: AGENTIC-R-071.
    pub fn read(&self, params: &Params<'_>) -> Result<Option<u32>, Failure> {
        let Some(text) = params.text(self.name) else {
            return Ok(self.default);
        };
        // The standard library would take a plus sign, which is a space in a URL.
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| plain);
        let number = number.filter(|number| (self.least..=self.most).contains(number));
        Ok(Some(number.ok_or_else(|| self.refused())?))
    }

    /// Reads a number that has a default.
    ///
    /// # Panics
    /// If it has no default.
    pub fn read_or_default(&self, params: &Params<'_>) -> Result<u32, Failure> {
        Ok(self.read(params)?.expect("the definition of the parameter has a default"))
    }

    fn refused(&self) -> Failure {
        let (least, most) = (self.least, self.most);
        wrong(self.name, &format!("must be a whole number from {least} to {most}"))
    }
}

impl Flag {
    /// A boolean.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Reads it.
    pub fn read(&self, params: &Params<'_>) -> Result<bool, Failure> {
        match params.text(self.name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(wrong(self.name, "must be true or false")),
        }
    }
}

impl<N: Names> Word<N> {
    /// A word.
    pub const fn new(name: &'static str) -> Self {
        Self { name, default: None }
    }

    /// The same with a default.
    #[must_use]
    pub const fn or(mut self, default: N) -> Self {
        self.default = Some(default);
        self
    }

    /// Reads it, if it is given or has a default.
    pub fn read(&self, params: &Params<'_>) -> Result<Option<N>, Failure> {
        let Some(text) = params.text(self.name) else {
            return Ok(self.default);
        };
        let found = N::find(text);
        let names = || one_of(N::ALL.iter().map(|name| name.as_str()));
        Ok(Some(found.ok_or_else(|| wrong(self.name, &format!("must be {}", names())))?))
    }
}

impl Text {
    /// A text of a form.
    pub const fn new(name: &'static str, form: TextForm) -> Self {
        Self { name, form }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Reads it, if it is given.
    pub fn read<'a>(&self, params: &Params<'a>) -> Result<Option<&'a str>, Failure> {
        let Some(text) = params.text(self.name) else {
            return Ok(None);
        };
        refuse::check_form(&format!("/{}", self.name), text, &self.form)?;
        Ok(Some(text))
    }

    /// Reads it; it must be given and not be empty.
    pub fn required<'a>(&self, params: &Params<'a>) -> Result<&'a str, Failure> {
        let given = params.text(self.name).filter(|text| !text.is_empty());
        given.ok_or_else(|| wrong(self.name, "is missing"))?;
        Ok(self.read(params)?.unwrap_or_default())
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Wire> Id<T> {
    /// An id.
    pub const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }

    /// Reads it, if it is given.
    pub fn read(&self, params: &Params<'_>) -> Result<Option<T>, Failure> {
        let given = params.text(self.name).map(str::parse).transpose();
        given.map_err(|error: T::Err| wrong(self.name, &format!("is wrong: {error}")))
    }

    /// Reads it; it must be given.
    pub fn required(&self, params: &Params<'_>) -> Result<T, Failure> {
        self.read(params)?.ok_or_else(|| wrong(self.name, "is missing"))
    }
}

impl Moment {
    /// A time or a day.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Reads it, if it is given.
    pub fn read(&self, params: &Params<'_>) -> Result<Option<Time>, Failure> {
        let time = params.text(self.name).map(Time::parse_or_date).transpose();
        time.map_err(|_| {
            let expected = "a time such as 2026-04-18T20:00:00Z, or a day such as 2026-04-18";
            wrong(self.name, &format!("must be {expected}"))
        })
    }
}

impl From<Number> for Described {
    fn from(number: Number) -> Self {
        let (minimum, maximum) = (Some(number.least.into()), Some(number.most.into()));
        Self {
            name: number.name,
            shape: Shape::Integer { minimum, maximum },
            default: number.default.map(Value::from),
        }
    }
}

impl From<Flag> for Described {
    fn from(flag: Flag) -> Self {
        Self { name: flag.name, shape: Shape::Boolean, default: Some(false.into()) }
    }
}

impl<N: Names + Wire> From<Word<N>> for Described {
    fn from(word: Word<N>) -> Self {
        let default = word.default.map(|name| name.as_str().into());
        Self { name: word.name, shape: N::shape(), default }
    }
}

impl From<Text> for Described {
    fn from(text: Text) -> Self {
        Self { name: text.name, shape: Shape::Form(text.form), default: None }
    }
}

impl<T: Wire> From<Id<T>> for Described {
    fn from(id: Id<T>) -> Self {
        Self { name: id.name, shape: T::shape(), default: None }
    }
}

impl From<Moment> for Described {
    fn from(moment: Moment) -> Self {
        let form = TextForm::ANY.pattern(MOMENT).example("2026-04-18");
        Self { name: moment.name, shape: Shape::Form(form), default: None }
    }
}

/// A time in UTC or a day, for JSON Schema.
const MOMENT: &str = concat!(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00))?$",
);

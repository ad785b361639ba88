//! Definitions of parameters. A parameter is defined once: its value is read, written and described
//! from the same definition, so that server, client and document cannot differ.

use std::marker::PhantomData;
use std::str::FromStr;

use accord_base::refuse;
use accord_contract::wire::{Names, Pointer, Shape};
use accord_contract::{Failure, Limits, TextForm, Time, Value, Wire};

use super::Params;
use super::params::{one_of, wrong};

/// A definition of a parameter: it reads, writes and describes the value.
pub trait Definition {
    /// The value.
    type Value;

    /// Its name.
    fn name(&self) -> &'static str {
        self.described().name
    }

    /// Reads the value, if it is given or has a default.
    fn value(&self, params: &Params<'_>) -> Result<Option<Self::Value>, Failure>;

    /// The text of a value.
    fn text(&self, value: &Self::Value) -> String;

    /// What a document says about it.
    fn described(&self) -> Described;
}

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

impl<D: Definition> From<D> for Described {
    fn from(definition: D) -> Self {
        definition.described()
    }
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

/// Words out of a list, with commas between them.
#[derive(Clone, Copy, Debug)]
pub struct Words<N> {
    name: &'static str,
    form: TextForm,
    kind: PhantomData<N>,
}

/// A text of a form.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    name: &'static str,
    form: TextForm,
}

/// A text that only the operation can check, such as a cursor. Its form is only described.
#[derive(Clone, Copy, Debug)]
pub struct Opaque {
    name: &'static str,
    /// Without one it is a whole number from zero.
    form: Option<TextForm>,
}

/// The number of an event.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    name: &'static str,
}

/// An id in a path.
#[derive(Clone, Copy, Debug)]
pub struct Segment<T> {
    name: &'static str,
    kind: PhantomData<T>,
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

    /// Reads it, if it is given or has a default. Clauses: AGENTIC-R-071.
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

    /// Reads a number that has a default. Panics if it has none.
    pub fn read_or_default(&self, params: &Params<'_>) -> Result<u32, Failure> {
        Ok(self.read(params)?.expect("the definition of the parameter has a default"))
    }

    fn refused(&self) -> Failure {
        let Self { name, least, most, .. } = self;
        wrong(name, &format!("must be a whole number from {least} to {most}"))
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
        let Some(text) = params.text(self.name) else { return Ok(self.default) };
        let found = N::find(text);
        let names = || one_of(N::ALL.iter().map(|name| name.as_str()));
        Ok(Some(found.ok_or_else(|| wrong(self.name, &format!("must be {}", names())))?))
    }
}

impl<N: Names> Words<N> {
    /// Words whose text has a form.
    pub const fn new(name: &'static str, form: TextForm) -> Self {
        Self { name, form, kind: PhantomData }
    }
}

impl Opaque {
    /// A text that documents describe with a form.
    pub const fn new(name: &'static str, form: TextForm) -> Self {
        Self { name, form: Some(form) }
    }

    /// A text that documents describe as a whole number from zero.
    pub const fn number(name: &'static str) -> Self {
        Self { name, form: None }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl Sequence {
    /// The number of an event.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }
}

impl<T> Segment<T> {
    /// An id in a path.
    pub const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
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
        let Some(text) = params.text(self.name) else { return Ok(None) };
        check_form(&format!("/{}", self.name), text, &self.form)?;
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

/// A text that does not have a form.
fn check_form(pointer: &str, text: &str, form: &TextForm) -> Result<(), Failure> {
    let text = Value::from(text);
    Limits::text(*form).check(&text, &Pointer::Root).map_err(|mut error| {
        error.pointer = pointer.to_owned();
        refuse::decoded(error)
    })
}

/// The text of a value that is a string on the wire.
fn text_of(value: &impl Wire) -> String {
    match value.encode() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl Definition for Number {
    type Value = u32;

    fn value(&self, params: &Params<'_>) -> Result<Option<u32>, Failure> {
        self.read(params)
    }

    fn text(&self, value: &u32) -> String {
        value.to_string()
    }

    fn described(&self) -> Described {
        let (minimum, maximum) = (Some(self.least.into()), Some(self.most.into()));
        let (shape, default) = (Shape::Integer { minimum, maximum }, self.default.map(Value::from));
        Described { name: self.name, shape, default }
    }
}

impl Definition for Flag {
    type Value = bool;

    fn value(&self, params: &Params<'_>) -> Result<Option<bool>, Failure> {
        self.read(params).map(Some)
    }

    fn text(&self, value: &bool) -> String {
        value.to_string()
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: Shape::Boolean, default: Some(false.into()) }
    }
}

impl<N: Names + Wire> Definition for Word<N> {
    type Value = N;

    fn value(&self, params: &Params<'_>) -> Result<Option<N>, Failure> {
        self.read(params)
    }

    fn text(&self, value: &N) -> String {
        value.as_str().to_owned()
    }

    fn described(&self) -> Described {
        let default = self.default.map(|name| name.as_str().into());
        Described { name: self.name, shape: N::shape(), default }
    }
}

impl<N: Names> Definition for Words<N> {
    type Value = Vec<N>;

    fn value(&self, params: &Params<'_>) -> Result<Option<Vec<N>>, Failure> {
        let Some(text) = params.text(self.name) else { return Ok(None) };
        check_form(&format!("/{}", self.name), text, &self.form)?;
        let found: Option<Vec<N>> = text.split(',').map(N::find).collect();
        let names = || one_of(N::ALL.iter().map(|name| name.as_str()));
        let refused = || wrong(self.name, &format!("must be {}, or several of them", names()));
        Ok(Some(found.ok_or_else(refused)?))
    }

    fn text(&self, value: &Vec<N>) -> String {
        value.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(",")
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: Shape::Form(self.form), default: None }
    }
}

impl Definition for Text {
    type Value = String;

    fn value(&self, params: &Params<'_>) -> Result<Option<String>, Failure> {
        Ok(self.read(params)?.map(str::to_owned))
    }

    fn text(&self, value: &String) -> String {
        value.clone()
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: Shape::Form(self.form), default: None }
    }
}

impl Definition for Opaque {
    type Value = String;

    fn value(&self, params: &Params<'_>) -> Result<Option<String>, Failure> {
        Ok(params.text(self.name).map(str::to_owned))
    }

    fn text(&self, value: &String) -> String {
        value.clone()
    }

    fn described(&self) -> Described {
        let whole = Shape::Integer { minimum: Some(0), maximum: None };
        Described { name: self.name, shape: self.form.map_or(whole, Shape::Form), default: None }
    }
}

impl Definition for Sequence {
    type Value = u64;

    fn value(&self, params: &Params<'_>) -> Result<Option<u64>, Failure> {
        let Some(text) = params.text(self.name) else { return Ok(None) };
        check_form(&format!("/{}", self.name), text, &SEQUENCE)?;
        text.parse().map(Some).map_err(|_| wrong(self.name, "must be a number"))
    }

    fn text(&self, value: &u64) -> String {
        value.to_string()
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: Shape::Form(SEQUENCE), default: None }
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Wire> Definition for Id<T> {
    type Value = T;

    fn value(&self, params: &Params<'_>) -> Result<Option<T>, Failure> {
        self.read(params)
    }

    fn text(&self, value: &T) -> String {
        text_of(value)
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: T::shape(), default: None }
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Wire> Definition for Segment<T> {
    type Value = T;

    fn value(&self, params: &Params<'_>) -> Result<Option<T>, Failure> {
        let given = params.text(self.name).map(str::parse).transpose();
        given.map_err(|error: T::Err| refuse::schema(format!("/{}", self.name), error.to_string()))
    }

    fn text(&self, value: &T) -> String {
        text_of(value)
    }

    fn described(&self) -> Described {
        Described { name: self.name, shape: T::shape(), default: None }
    }
}

impl Definition for Moment {
    type Value = Time;

    fn value(&self, params: &Params<'_>) -> Result<Option<Time>, Failure> {
        self.read(params)
    }

    fn text(&self, value: &Time) -> String {
        value.to_string()
    }

    fn described(&self) -> Described {
        let form = TextForm::ANY.pattern(MOMENT).example("2026-04-18");
        Described { name: self.name, shape: Shape::Form(form), default: None }
    }
}

/// The number of an event, as digits.
const SEQUENCE: TextForm = TextForm::ANY.pattern("^[0-9]{1,15}$").example("42");

/// A time in UTC or a day, for JSON Schema.
const MOMENT: &str = concat!(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00))?$",
);

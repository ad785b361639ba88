//! The wire forms of plain values and of lists and maps of them.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::{DecodeError, Form, Object, Pointer, Shape, Wire};

/// The value `true`, as the only allowed value of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct True;

/// The value `false`, as the only allowed value of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct False;

/// A number from 0 to 1. The number is kept; how it was spelled is not.
///
/// Clauses: ALX-WG-06, ALX-MSG-CONFIDENCE-RANGE.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ratio(Number);

/// The value as a whole number from zero. JSON has one kind of number, so `2.0` is 2.
pub fn count_of(value: &Value) -> Option<u64> {
    value.as_number().and_then(whole_from_zero)
}

/// The value as a whole number.
pub fn integer_of(value: &Value) -> Option<i64> {
    value.as_number().and_then(whole)
}

impl Ratio {
    /// The number, where it is from 0 to 1.
    pub fn new(number: Number) -> Option<Self> {
        let value = number.as_f64()?;
        (0.0..=1.0).contains(&value).then_some(Self(number))
    }

    /// The number.
    pub fn number(&self) -> &Number {
        &self.0
    }
}

impl Wire for Value {
    fn shape() -> Shape {
        Shape::Any
    }

    fn decode(value: Value, _: &Pointer<'_>) -> Result<Self, DecodeError> {
        Ok(value)
    }

    fn write(&self, _: Form) -> Value {
        self.clone()
    }
}

impl Wire for Object {
    fn shape() -> Shape {
        Shape::Map(Box::new(Shape::Any))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Object(members) => Ok(members),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        Value::Object(self.clone())
    }
}

impl Wire for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        Value::String(self.clone())
    }
}

impl Wire for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Bool(truth) => Ok(truth),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        Value::Bool(*self)
    }
}

impl Wire for True {
    fn shape() -> Shape {
        Shape::Constant(true)
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        constant(true, &value, at).map(|()| Self)
    }

    fn write(&self, _: Form) -> Value {
        Value::Bool(true)
    }
}

impl Wire for False {
    fn shape() -> Shape {
        Shape::Constant(false)
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        constant(false, &value, at).map(|()| Self)
    }

    fn write(&self, _: Form) -> Value {
        Value::Bool(false)
    }
}

impl Wire for Number {
    fn shape() -> Shape {
        Shape::Number { range: None }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Number(number) => Ok(number),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        Value::Number(self.clone())
    }
}

impl Wire for Ratio {
    fn shape() -> Shape {
        Shape::Number { range: Some((0, 1)) }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Number(number) => Self::new(number.clone()).ok_or_else(|| {
                DecodeError::wrong_value(at, &Self::shape(), &Value::Number(number))
            }),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        Value::Number(self.0.clone())
    }
}

impl Wire for u64 {
    fn shape() -> Shape {
        Shape::Integer { minimum: Some(0), maximum: None }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        integer(&value, at, &Self::shape(), whole_from_zero)
    }

    fn write(&self, _: Form) -> Value {
        (*self).into()
    }
}

impl Wire for i64 {
    fn shape() -> Shape {
        Shape::Integer { minimum: None, maximum: None }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        integer(&value, at, &Self::shape(), whole)
    }

    fn write(&self, _: Form) -> Value {
        (*self).into()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn shape() -> Shape {
        Shape::List { item: Box::new(T::shape()), least: 0, most: None }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Array(items) => (items.into_iter().enumerate())
                .map(|(index, item)| T::decode(item, &at.index(index)))
                .collect(),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, form: Form) -> Value {
        self.iter().map(|item| item.write(form)).collect()
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn shape() -> Shape {
        Shape::Map(Box::new(T::shape()))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Object(members) => members
                .into_iter()
                .map(|(name, item)| {
                    let item = T::decode(item, &at.member(&name))?;
                    Ok((name, item))
                })
                .collect(),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, form: Form) -> Value {
        let members = self.iter().map(|(name, item)| (name.clone(), item.write(form)));
        Value::Object(members.collect())
    }
}

fn constant(demanded: bool, value: &Value, at: &Pointer<'_>) -> Result<(), DecodeError> {
    match value {
        Value::Bool(truth) if *truth == demanded => Ok(()),
        // The other boolean has the right type, so its code is another than that of a wrong type.
        Value::Bool(_) => Err(DecodeError::wrong_value(at, &Shape::Constant(demanded), value)),
        other => Err(DecodeError::wrong_type(at, &Shape::Boolean, other)),
    }
}

fn integer<N>(
    value: &Value,
    at: &Pointer<'_>,
    shape: &Shape,
    whole: impl FnOnce(&Number) -> Option<N>,
) -> Result<N, DecodeError> {
    match value {
        Value::Number(number) => {
            whole(number).ok_or_else(|| DecodeError::wrong_value(at, shape, value))
        }
        other => Err(DecodeError::wrong_type(at, shape, other)),
    }
}

fn whole_from_zero(number: &Number) -> Option<u64> {
    let exact = || exact_integer(number).and_then(|number| number.try_into().ok());
    // Integers first: a double cannot represent every u64.
    number.as_u64().or_else(exact)
}

fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| exact_integer(number))
}

/// A number with a fraction of zero, such as `3.0`, as an integer. Past 2^53 such a text no longer
/// names one integer.
fn exact_integer(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

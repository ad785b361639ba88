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

/// Types whose values are one variant of [`Value`].
macro_rules! plain_values {
    ($($type:ty: $variant:path, $shape:expr;)+) => {$(
        impl Wire for $type {
            fn shape() -> Shape {
                $shape
            }

            fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
                match value {
                    $variant(value) => Ok(value),
                    other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
                }
            }

            fn write(&self, _: Form) -> Value {
                $variant(self.clone())
            }
        }
    )+};
}

plain_values! {
    Object: Value::Object, Shape::Map(Box::new(Shape::Any));
    String: Value::String, Shape::Text;
    bool: Value::Bool, Shape::Boolean;
    Number: Value::Number, Shape::Number { range: None };
}

/// Types with one value.
macro_rules! constants {
    ($($type:ident: $value:literal;)+) => {$(
        impl Wire for $type {
            fn shape() -> Shape {
                Shape::Constant($value)
            }

            fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
                match value {
                    Value::Bool($value) => Ok(Self),
                    // The other boolean has the right type, so its code is another one.
                    Value::Bool(_) => Err(DecodeError::wrong_value(at, &Self::shape(), &value)),
                    other => Err(DecodeError::wrong_type(at, &Shape::Boolean, &other)),
                }
            }

            fn write(&self, _: Form) -> Value {
                Value::Bool($value)
            }
        }
    )+};
}

constants! {
    True: true;
    False: false;
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

macro_rules! integers {
    ($($type:ty: $read:path, $least:expr;)+) => {$(
        impl Wire for $type {
            fn shape() -> Shape {
                Shape::Integer { minimum: $least, maximum: None }
            }

            fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
                let Value::Number(number) = &value else {
                    return Err(DecodeError::wrong_type(at, &Self::shape(), &value));
                };
                $read(number).ok_or_else(|| DecodeError::wrong_value(at, &Self::shape(), &value))
            }

            fn write(&self, _: Form) -> Value {
                (*self).into()
            }
        }
    )+};
}

integers! {
    u64: whole_from_zero, Some(0);
    i64: whole, None;
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
            Value::Object(members) => (members.into_iter())
                .map(|(name, item)| Ok((name.clone(), T::decode(item, &at.member(&name))?)))
                .collect(),
            other => Err(DecodeError::wrong_type(at, &Self::shape(), &other)),
        }
    }

    fn write(&self, form: Form) -> Value {
        let members = self.iter().map(|(name, item)| (name.clone(), item.write(form)));
        Value::Object(members.collect())
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

/// A number such as `3.0` as an integer. Past 2^53 its text no longer names one.
fn exact_integer(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

//! The four ways in which a message can have a member.

/// A member that may be absent, `null`, or a value. On the wire `null` means "known to be empty"
/// and absence means "not stated"; they are not interchangeable. Clauses: ALX-NULL-DISTINCT.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Field<T> {
    /// The member is absent.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has this value.
    Value(T),
}

impl<T> Field<T> {
    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<T> From<Option<T>> for Field<T> {
    /// `None` becomes [`Field::Absent`]: an emitter says `null` only on purpose.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Value)
    }
}

/// Whether a member must be present and may be `null`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Presence {
    /// Whether the member must be there.
    pub required: bool,
    /// Whether the member may be `null`.
    pub nullable: bool,
}

/// One module for each presence keyword of [`message!`](crate::message), with the same four names.
#[doc(hidden)]
pub mod presence {
    use crate::wire::{DecodeError, Decoded, Field, Form, Object, Pointer, Presence, Value, Wire};

    /// Must be present; the type decides which values are allowed. Clauses: ALX-NULL-REQUIRED.
    pub mod required {
        use super::*;

        pub type Type<T> = T;
        pub const PRESENCE: Presence = Presence { required: true, nullable: false };

        pub fn take<T: Wire>(from: &mut Object, name: &str, at: &Pointer<'_>) -> Decoded<T> {
            let at = at.member(name);
            match from.shift_remove(name) {
                None => Err(DecodeError::missing(&at, &T::shape())),
                Some(value) => T::decode(value, &at),
            }
        }

        pub fn put<T: Wire>(value: &T, name: &str, form: Form, into: &mut Object) {
            into.insert(name.into(), value.write(form));
        }
    }

    /// May be absent; `null` is refused.
    pub mod optional {
        use super::*;

        pub type Type<T> = Option<T>;
        pub const PRESENCE: Presence = Presence { required: false, nullable: false };

        pub fn take<T: Wire>(from: &mut Object, name: &str, at: &Pointer<'_>) -> Decoded<Type<T>> {
            let at = at.member(name);
            match from.shift_remove(name) {
                None => Ok(None),
                Some(Value::Null) => Err(DecodeError::wrong_type(&at, &T::shape(), &Value::Null)),
                Some(value) => T::decode(value, &at).map(Some),
            }
        }

        pub fn put<T: Wire>(value: &Option<T>, name: &str, form: Form, into: &mut Object) {
            if let Some(value) = value {
                into.insert(name.into(), value.write(form));
            }
        }
    }

    /// May be absent and may be `null`, and the two are kept apart.
    pub mod nullable {
        use super::*;

        pub type Type<T> = Field<T>;
        pub const PRESENCE: Presence = Presence { required: false, nullable: true };

        pub fn take<T: Wire>(from: &mut Object, name: &str, at: &Pointer<'_>) -> Decoded<Type<T>> {
            match from.shift_remove(name) {
                None => Ok(Field::Absent),
                Some(Value::Null) => Ok(Field::Null),
                Some(value) => T::decode(value, &at.member(name)).map(Field::Value),
            }
        }

        pub fn put<T: Wire>(value: &Field<T>, name: &str, form: Form, into: &mut Object) {
            let value = match value {
                Field::Absent => return,
                Field::Null => Value::Null,
                Field::Value(value) => value.write(form),
            };
            into.insert(name.into(), value);
        }
    }

    /// Must be present, and may be `null`.
    pub mod required_or_null {
        use super::*;

        pub type Type<T> = Option<T>;
        pub const PRESENCE: Presence = Presence { required: true, nullable: true };

        pub fn take<T: Wire>(from: &mut Object, name: &str, at: &Pointer<'_>) -> Decoded<Type<T>> {
            let at = at.member(name);
            match from.shift_remove(name) {
                None => Err(DecodeError::missing(&at, &T::shape())),
                Some(Value::Null) => Ok(None),
                Some(value) => T::decode(value, &at).map(Some),
            }
        }

        pub fn put<T: Wire>(value: &Option<T>, name: &str, form: Form, into: &mut Object) {
            let value = value.as_ref().map_or(Value::Null, |value| value.write(form));
            into.insert(name.into(), value);
        }
    }
}

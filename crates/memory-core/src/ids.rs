//! Ids: texts that name one thing, each of its own type.
//!
//! Invariant: an id is not empty, has at most [`MAX_ID_CHARS`] characters, and
//! holds no U+0000, which some engines cannot store. Anything else is allowed;
//! how an id is written in a URL is the door's business.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{DecodeError, Form, Pointer, Shape, Value, Wire};
use data_encoding::HEXLOWER;

/// The longest id, in Unicode scalar values.
pub const MAX_ID_CHARS: usize = 512;

/// Why a text is no id.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IdError {
    /// It is empty.
    #[error("an id must not be empty")]
    Empty,
    /// It is longer than [`MAX_ID_CHARS`].
    #[error("an id has at most {MAX_ID_CHARS} characters")]
    TooLong,
    /// It holds U+0000.
    #[error("an id must not hold the character U+0000")]
    Nul,
}

impl From<IdError> for Failure {
    fn from(error: IdError) -> Self {
        Self::new(Code::AgenticInvalidSchema, error.to_string())
    }
}

macro_rules! id {
    ($(#[doc = $about:literal])* $name:ident, $prefix:literal) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(String);

        impl $name {
            /// The id that a text is.
            ///
            /// # Errors
            /// When the text is empty, too long or holds U+0000.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }

            #[doc = concat!("A new id, `", $prefix, "` and 32 digits, from 16 random bytes.")]
            pub fn mint(random: [u8; 16]) -> Self {
                Self(format!(concat!($prefix, "{}"), HEXLOWER.encode(&random)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, given away.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl Wire for $name {
            fn shape() -> Shape {
                Shape::Text
            }

            fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
                let text = String::decode(value, at)?;
                Self::new(text.as_str()).map_err(|error| {
                    let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
                    refused.expected = error.to_string();
                    refused
                })
            }

            fn write(&self, _: Form) -> Value {
                self.0.as_str().into()
            }
        }
    };
}

id! {
    /// Names a project.
    ProjectId, "proj_"
}
id! {
    /// Names a package within its project.
    PackageId, "pkg_"
}
id! {
    /// Names a fact within its project.
    FactId, "fact_"
}
id! {
    /// Names a session.
    SessionId, "sess_"
}
id! {
    /// Names an actor: a human, an agent or a script.
    ActorId, "actor_"
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    // No character is shorter than a byte, so most ids need no counting.
    if text.len() > MAX_ID_CHARS && text.chars().count() > MAX_ID_CHARS {
        return Err(IdError::TooLong);
    }
    if text.contains('\0') {
        return Err(IdError::Nul);
    }
    Ok(())
}

//! Ids. Each kind has its own type. An id is not empty, has at most [`MAX_ID_CHARS`] characters,
//! and no U+0000, which some engines cannot store. A door escapes ids in URLs.

use accord_contract::wire::FormError;
use accord_contract::{Code, Failure, TextForm};
use data_encoding::HEXLOWER;

/// The longest id, in Unicode scalar values.
pub const MAX_ID_CHARS: usize = 512;

pub const ID_FORM: TextForm = TextForm::ANY.chars(1, MAX_ID_CHARS).without_nul();

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IdError {
    #[error("an id must not be empty")]
    Empty,
    /// It is longer than [`MAX_ID_CHARS`].
    #[error("an id has at most {MAX_ID_CHARS} characters")]
    TooLong,
    /// It contains U+0000.
    #[error("an id must not contain the character U+0000")]
    Nul,
}

impl From<IdError> for Failure {
    fn from(error: IdError) -> Self {
        Self::new(Code::AgenticInvalidSchema, error.to_string())
    }
}

/// Declares the type of an id, and the prefix that new ids of this type get.
#[macro_export]
macro_rules! id {
    ($(#[doc = $about:literal])* $name:ident, $prefix:literal) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(String);

        impl $name {
            /// Checks a text and wraps it.
            pub fn new(text: impl Into<String>) -> Result<Self, $crate::IdError> {
                let text = text.into();
                $crate::check_id(&text)?;
                Ok(Self(text))
            }

            #[doc = concat!("A new id: `", $prefix, "` and 32 digits, from 16 random bytes.")]
            pub fn mint(random: [u8; 16]) -> Self {
                Self($crate::mint_id($prefix, random))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::IdError;

            fn from_str(text: &str) -> Result<Self, $crate::IdError> {
                Self::new(text)
            }
        }

        impl ::accord_contract::wire::Wire for $name {
            fn shape() -> ::accord_contract::wire::Shape {
                ::accord_contract::wire::Shape::Form($crate::ID_FORM)
            }

            fn decode(
                value: ::accord_contract::wire::Value,
                at: &::accord_contract::wire::Pointer<'_>,
            ) -> Result<Self, ::accord_contract::wire::DecodeError> {
                use ::accord_contract::wire::{DecodeError, Shape, Wire};
                let text = <String as Wire>::decode(value, at)?;
                Self::new(text.as_str()).map_err(|error| {
                    let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
                    refused.expected = error.to_string();
                    refused
                })
            }

            fn write(
                &self,
                _: ::accord_contract::wire::Form,
            ) -> ::accord_contract::wire::Value {
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
    /// Names a session of an actor.
    SessionId, "sess_"
}
id! {
    /// Names an actor: a human, an agent or a script.
    ActorId, "actor_"
}
id! {
    /// Names an edge: a work tree that is joined to a project of a hub.
    EdgeId, "edge_"
}

/// Checks the invariant of an id. Clauses: AGENTIC-R-002.
pub fn check_id(text: &str) -> Result<(), IdError> {
    ID_FORM.check(text).map_err(|error| match error {
        FormError::TooShort => IdError::Empty,
        FormError::TooManyChars | FormError::TooManyBytes => IdError::TooLong,
        FormError::Nul => IdError::Nul,
    })
}

/// A prefix and 16 random bytes as hexadecimal digits. Clauses: AGENTIC-R-003, AGENTIC-R-081.
pub fn mint_id(prefix: &str, random: [u8; 16]) -> String {
    format!("{prefix}{}", HEXLOWER.encode(&random))
}

//! `wire_enum!`: the declaration of a list of names, and [`Extensible`], for a reader that must
//! accept the names of a later version.

use std::fmt;

use super::{DecodeError, EnumShape, Form, Pointer, Shape, Value, Wire};

/// Declares strings that are one of a list of names.
///
/// ```
/// use accord_contract::wire::{Extensible, Wire, wire_enum};
///
/// wire_enum! {
///     /// The state of a task.
///     pub enum TaskState("TaskState", closed) {
///         /// It has no owner.
///         Free = "free",
///         /// It has an owner.
///         Taken = "taken",
///     }
/// }
///
/// assert_eq!(TaskState::Taken.as_str(), "taken");
/// let error = TaskState::from_document("parked".into()).unwrap_err();
/// let message = r#"the document: expected one of "free", "taken", found "parked""#;
/// assert_eq!(error.to_string(), message);
///
/// let tolerant = Extensible::<TaskState>::from_document("parked".into())?;
/// assert_eq!(tolerant, Extensible::Unknown("parked".into()));
/// # Ok::<(), accord_contract::wire::DecodeError>(())
/// ```
///
/// The list is closed: a name outside it is refused, and cannot be written. Where a reader must
/// tolerate the names of a later version, the member's type is [`Extensible`] of it.
#[macro_export]
macro_rules! wire_enum {
    ($(
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident($wire_name:literal, closed) {
            $($(#[doc = $variant_about:literal])* $variant:ident = $text:literal,)+
        }
    )+) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        $vis enum $name {
            $($(#[doc = $variant_about])* $variant,)+
        }

        impl $name {
            /// Every name of the list, in the order of its declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The name out of the list, where it is one.
            pub fn parse(text: &str) -> ::core::option::Option<Self> {
                <Self as $crate::wire::Names>::find(text)
            }
        }

        impl $crate::wire::Names for $name {
            const NAME: &'static str = $wire_name;
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                Self::as_str(self)
            }
        }

        $crate::wire_names! { $name }
    )+};
}

/// Gives a type that implements [`Names`] its wire form and its `Display`.
#[doc(hidden)]
#[macro_export]
macro_rules! wire_names {
    ($name:ident) => {
        impl $crate::wire::Wire for $name {
            fn shape() -> $crate::wire::Shape {
                $crate::wire::names_shape::<Self>(false)
            }

            fn decode(
                value: $crate::Value,
                at: &$crate::wire::Pointer<'_>,
            ) -> $crate::wire::Decoded<Self> {
                $crate::wire::decode_name(value, at)
            }

            fn write(&self, _: $crate::wire::Form) -> $crate::wire::Value {
                self.as_str().into()
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// A list of names on the wire.
pub trait Names: Copy + 'static {
    /// The list's own name on the wire contract.
    const NAME: &'static str;
    /// Every name.
    const ALL: &'static [Self];
    /// Whether the contract lists the names where a member has one of them.
    const LISTED: bool = true;

    /// The name on the wire.
    fn as_str(self) -> &'static str;

    /// Finds a name by its text.
    fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.as_str() == text)
    }
}

/// A name of a list that a later version may extend. A reader writes an unknown name back.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Extensible<N> {
    /// A name of the list.
    Known(N),
    /// A name that this version does not know.
    Unknown(String),
}

impl<N: Names> Extensible<N> {
    /// The name with this text, known or not.
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        N::find(&text).map_or(Self::Unknown(text), Self::Known)
    }

    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name.as_str(),
            Self::Unknown(text) => text,
        }
    }

    /// The known name, if it is one.
    pub fn known(&self) -> Option<N> {
        match self {
            Self::Known(name) => Some(*name),
            Self::Unknown(_) => None,
        }
    }
}

impl<N: Names> From<N> for Extensible<N> {
    fn from(name: N) -> Self {
        Self::Known(name)
    }
}

impl<N: Names> fmt::Display for Extensible<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<N: Names> Wire for Extensible<N> {
    fn shape() -> Shape {
        // A list that the contract has elsewhere, such as the codes, is not repeated here.
        if N::LISTED { names_shape::<N>(true) } else { Shape::Text }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        String::decode(value, at).map(Self::from_text)
    }

    fn write(&self, _: Form) -> Value {
        self.as_str().into()
    }
}

#[doc(hidden)]
pub fn names_shape<N: Names>(open: bool) -> Shape {
    let members = N::ALL.iter().map(|name| name.as_str()).collect();
    Shape::Enum(EnumShape { name: N::NAME, open, members })
}

#[doc(hidden)]
pub fn decode_name<N: Names>(value: Value, at: &Pointer<'_>) -> Result<N, DecodeError> {
    let text = String::decode(value, at)?;
    N::find(&text)
        .ok_or_else(|| DecodeError::wrong_value(at, &names_shape::<N>(false), &text.into()))
}

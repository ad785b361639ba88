//! `message!`: the declaration of a wire message.

use super::{
    Alias, DecodeError, FieldShape, Form, MessageShape, Object, Pointer, Shape, Value, Wire,
};

/// Declares wire messages, one after the other.
///
/// ```
/// use accord_contract::wire::{Field, Wire, message};
///
/// message! {
///     /// A note on a task.
///     pub struct Note("Note", open) {
///         /// Who wrote it.
///         required author: String = "author", "actor-id";
///         /// When it was read, where that is known.
///         nullable read_at: String = "readAt", "time:iso-8601";
///         /// What it answers.
///         optional answers: String = "answers", "note-id";
///     }
///     aliases { "by" => "author" }
/// }
///
/// let sent = serde_json::json!({"author": "ada", "readAt": null, "x-mood": 1});
/// let note = Note::from_document(sent)?;
/// assert_eq!((&note.read_at, &note.answers), (&Field::Null, &None));
/// assert_eq!(
///     note.encode(),
///     serde_json::json!({"author": "ada", "readAt": null, "by": "ada", "x-mood": 1}),
/// );
/// # Ok::<(), accord_contract::wire::DecodeError>(())
/// ```
///
/// * `open` keeps unknown members in a public member `extra`; `closed` refuses them. Other crates
///   can write a message as a literal: its core declares it and a host answers with it.
/// * `required T` gives `T`; `optional T` gives `Option<T>` and refuses `null`;
///   `nullable T` gives `Field<T>`; `required_or_null T` gives `Option<T>`, where
///   the member must be there and `None` is `null`.
/// * An alias names a member at the top of the message and the dotted path of the
///   canonical member that it repeats.
/// * A member can have [`Limits`](crate::wire::Limits) after its meaning:
///   `optional note: String = "note", "text", Limits::text(SHORT);`. The reader checks them,
///   and the JSON Schema describes them.
/// * `adds { /// About it. "name": T; }` after the members names members that a server adds to
///   its answers. The JSON Schema has them as `readOnly`; a reader treats them as unknown members.
/// * `extensions { /// About it. "x-name": shape; }` describes extensions in the same way.
#[macro_export]
macro_rules! message {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($wire_name:literal, $policy:ident) {
            $(
                $(#[doc = $field_about:literal])*
                $presence:ident $field:ident: $ty:ty = $json:literal, $semantics:literal
                    $(, $limits:expr)?;
            )*
        }
        $(aliases { $($alias:literal => $mirrors:literal),+ $(,)? })?
        $(adds { $($(#[doc = $added_about:literal])* $added:literal: $added_ty:ty;)+ })?
        $(extensions { $($(#[doc = $ext_about:literal])* $ext:literal: $ext_shape:expr;)+ })?
    )+) => {$(
        $crate::message! { @struct $policy
            $(#[doc = $about])*
            $vis struct $name {
                $($(#[doc = $field_about])* $presence $field: $ty;)*
            }
        }

        impl $crate::wire::Message for $name {
            const NAME: &'static str = $wire_name;
            const ABOUT: &'static [&'static str] = &[$($about),*];
            const OPEN: bool = $crate::message!(@is_open $policy);
            const ALIASES: &'static [$crate::wire::Alias] =
                &[$($($crate::wire::Alias { name: $alias, mirrors: $mirrors }),+)?];

            fn fields() -> ::std::vec::Vec<$crate::wire::FieldShape> {
                ::std::vec![$(
                    $crate::wire::FieldShape {
                        name: $json,
                        about: $crate::wire::about(&[$($field_about),*]),
                        presence: $crate::wire::presence::$presence::PRESENCE,
                        semantics: $semantics,
                        shape: $crate::message!(
                            @shape <$ty as $crate::wire::Wire>::shape() $(, $limits)?
                        ),
                        is_read_only: $crate::message!(@read_only $($limits)?),
                    }
                ),*]
            }

            fn beside() -> ::std::vec::Vec<$crate::wire::FieldShape> {
                ::std::vec![$($(
                    $crate::wire::FieldShape {
                        name: $added,
                        about: $crate::wire::about(&[$($added_about),*]),
                        presence: $crate::wire::presence::optional::PRESENCE,
                        semantics: "added",
                        shape: <$added_ty as $crate::wire::Wire>::shape(),
                        is_read_only: true,
                    },
                )+)? $($(
                    $crate::wire::FieldShape {
                        name: $ext,
                        about: $crate::wire::about(&[$($ext_about),*]),
                        presence: $crate::wire::presence::nullable::PRESENCE,
                        semantics: "extension",
                        shape: $ext_shape,
                        is_read_only: false,
                    },
                )+)?]
            }

            fn take(
                mut members: $crate::wire::Object,
                at: &$crate::wire::Pointer<'_>,
            ) -> $crate::wire::Decoded<Self> {
                $($($crate::wire::check_limits(&members, $json, at, &$limits)?;)?)*
                $(let $field = $crate::wire::presence::$presence::take(&mut members, $json, at)?;)*
                $crate::message!(@whole $policy members at { $($field),* })
            }

            fn put(&self, form: $crate::wire::Form, into: &mut $crate::wire::Object) {
                $($crate::wire::presence::$presence::put(&self.$field, $json, form, into);)*
            }

            fn extra(&self) -> ::core::option::Option<&$crate::wire::Object> {
                $crate::message!(@extra $policy self)
            }
        }
    )+};

    (@read_only) => { false };
    (@read_only $limits:expr) => { $limits.is_read_only() };
    (@shape $shape:expr) => { $shape };
    (@shape $shape:expr, $limits:expr) => { $limits.narrow($shape) };

    // What differs between an open and a closed message.
    (@struct open
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $($(#[doc = $field_about:literal])* $presence:ident $field:ident: $ty:ty;)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, PartialEq)]
        $vis struct $name {
            $(
                $(#[doc = $field_about])*
                pub $field: $crate::wire::presence::$presence::Type<$ty>,
            )*
            /// Members that this contract does not name; they are written back.
            pub extra: $crate::wire::Object,
        }
    };
    (@struct closed
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $($(#[doc = $field_about:literal])* $presence:ident $field:ident: $ty:ty;)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Eq, PartialEq)]
        $vis struct $name {
            $(
                $(#[doc = $field_about])*
                pub $field: $crate::wire::presence::$presence::Type<$ty>,
            )*
        }
    };
    (@is_open open) => { true };
    (@is_open closed) => { false };
    (@whole open $members:ident $at:ident { $($field:ident),* }) => {
        ::core::result::Result::Ok(Self { $($field,)* extra: $members })
    };
    (@whole closed $members:ident $at:ident { $($field:ident),* }) => {{
        $crate::wire::refuse_rest(&$members, $at)?;
        ::core::result::Result::Ok(Self { $($field),* })
    }};
    (@extra open $this:ident) => { ::core::option::Option::Some(&$this.extra) };
    (@extra closed $this:ident) => { ::core::option::Option::None };
}

/// The declaration of a message, implemented by [`message!`](crate::message).
pub trait Message: Sized {
    /// The name on the wire contract.
    const NAME: &'static str;
    /// The doc comment, line by line.
    const ABOUT: &'static [&'static str];
    /// Whether unknown members are kept.
    const OPEN: bool;
    /// The aliases that are written beside the canonical members.
    const ALIASES: &'static [Alias];

    /// The canonical members, in the order in which they are written.
    fn fields() -> Vec<FieldShape>;

    /// The members beside them that the JSON Schema describes, and that a reader does not know.
    fn beside() -> Vec<FieldShape>;

    /// Reads the canonical members out of `members`, and handles the rest.
    fn take(members: Object, at: &Pointer<'_>) -> Result<Self, DecodeError>;

    /// Writes the canonical members.
    fn put(&self, form: Form, into: &mut Object);

    /// The unknown members, if the message keeps them.
    fn extra(&self) -> Option<&Object>;
}

impl<M: Message> Wire for M {
    fn shape() -> Shape {
        Shape::Message(MessageShape {
            name: M::NAME,
            about: super::about(M::ABOUT),
            open: M::OPEN,
            fields: M::fields,
            aliases: M::ALIASES,
            beside: M::beside,
        })
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let Value::Object(mut members) = value else {
            return Err(DecodeError::wrong_type(at, &M::shape(), &value));
        };
        // Removed unread: an alias is never read, and a closed message does not refuse its own.
        for alias in M::ALIASES {
            members.shift_remove(alias.name);
        }
        M::take(members, at)
    }

    fn write(&self, form: Form) -> Value {
        let mut members = Object::new();
        self.put(form, &mut members);
        if form == Form::Document {
            let mirrored = M::ALIASES.iter();
            let mirrored = mirrored
                .filter_map(|alias| Some((alias.name.into(), alias.canonical(&members)?.clone())));
            // Collected first: the canonical values are borrowed from the members.
            let mirrored: Vec<(String, Value)> = mirrored.collect();
            members.extend(mirrored);
            for (name, value) in self.extra().into_iter().flatten() {
                // An unknown member never overrides one that the contract names.
                members.entry(name).or_insert_with(|| value.clone());
            }
        }
        Value::Object(members)
    }
}

/// Refuses the members that a closed message does not have, except in an answer.
#[doc(hidden)]
pub fn refuse_rest(members: &Object, at: &Pointer<'_>) -> Result<(), DecodeError> {
    match members.iter().next() {
        Some((name, value)) if !at.is_in_answer() => {
            Err(DecodeError::unknown(&at.member(name), value))
        }
        _ => Ok(()),
    }
}

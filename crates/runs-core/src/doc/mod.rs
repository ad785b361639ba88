//! The members of every governed document, each declared once with name and type.
//!
//! A document stays the ordered JSON object that was read. A [`Member`] reads or sets one of its
//! members. Unknown members, and known members of an unexpected type, are kept in their place.
//!
//! Invariants:
//! - a member of another type than the declared one reads as absent; [`Member::raw`] and
//!   [`Member::given`] distinguish the cases where a rule needs that, and
//!   [`GovernedFile::mistyped_members`](crate::GovernedFile::mistyped_members) names such members;
//! - setting a member changes no other member and no position.

mod coordinator;
mod records;
mod result;
mod run;

use std::marker::PhantomData;

use accord_contract::wire::{self, Names};
use accord_contract::{Object, Time, Value};

use crate::coordinator::{BarrierStatus, BarrierType, CoordinatorStatus, LineType};
use crate::mistyped_members::MemberType;
use crate::unknown_members::KnownMember;
use crate::{CheckpointReason, EventType, GateType, LedgerDecision, LedgerType, RunId, TurnId};

pub(crate) use coordinator::*;
pub(crate) use records::*;
pub(crate) use result::*;
pub(crate) use run::*;

/// Declares documents: the members of each, with their types and names. `=> Turn` says that the
/// value is such a document, `=> {Turn}` that it is an object of them, `=> [Turn]` a list of them.
macro_rules! documents {
    ($(
        $(#[doc = $about:literal])*
        $document:ident { $($member:ident: $kind:ty $(=> $nested:tt)? = $name:literal,)+ }
    )+) => {$(
        $(#[doc = $about])*
        pub(crate) struct $document;

        impl $document {
            $(pub(crate) const $member: $crate::doc::Member<$kind> =
                $crate::doc::Member::new($name);)+
        }

        impl $crate::doc::Document for $document {
            const MEMBERS: &'static [$crate::unknown_members::KnownMember] = &[$(
                $crate::unknown_members::decides($name)
                    .of($crate::doc::shape!($kind $(, $nested)?)),
            )+];
        }
    )+};
}
pub(crate) use documents;

macro_rules! shape {
    ($kind:ty) => {
        $crate::unknown_members::Shape::Value(<$kind as $crate::doc::Kind>::TYPE)
    };
    ($kind:ty, {$document:ident}) => {
        $crate::unknown_members::Shape::Map(&$crate::doc::shape!($kind, $document))
    };
    ($kind:ty, [$document:ident]) => {
        $crate::unknown_members::Shape::List(&$crate::doc::shape!($kind, $document))
    };
    ($kind:ty, $document:ident) => {
        $crate::unknown_members::Shape::Object(<$document as $crate::doc::Document>::MEMBERS)
    };
}
pub(crate) use shape;

pub(crate) trait Document {
    const MEMBERS: &'static [KnownMember];
}

pub(crate) struct Member<K> {
    name: &'static str,
    kind: PhantomData<K>,
}

pub(crate) trait Kind {
    const TYPE: MemberType;

    /// The type that [`Member::get`] returns.
    type Read<'a>;

    fn read(value: Option<&Value>) -> Self::Read<'_>;
}

pub(crate) trait Content<K> {
    fn into_value(self) -> Value;
}

pub(crate) trait Members {
    fn member(&self, name: &str) -> Option<&Value>;
}

impl Members for Object {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Members for Value {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl<T: Members + ?Sized> Members for &T {
    fn member(&self, name: &str) -> Option<&Value> {
        (**self).member(name)
    }
}

impl<T: Members + ?Sized> Members for &mut T {
    fn member(&self, name: &str) -> Option<&Value> {
        (**self).member(name)
    }
}

impl<K> From<Member<K>> for String {
    fn from(member: Member<K>) -> Self {
        member.name.to_owned()
    }
}

impl<K> Clone for Member<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Member<K> {}

impl<K> Member<K> {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// The same member without its type, for lists of members of different types.
    pub(crate) const fn any(self) -> Member<Any> {
        Member::new(self.name)
    }

    pub(crate) fn raw(self, of: &(impl Members + ?Sized)) -> Option<&Value> {
        of.member(self.name)
    }

    /// The value of any type, unless it is `null`.
    pub(crate) fn given(self, of: &(impl Members + ?Sized)) -> Option<&Value> {
        self.raw(of).filter(|value| !value.is_null())
    }

    /// A copy of the value of any type; `null` when it is absent.
    pub(crate) fn copy(self, of: &(impl Members + ?Sized)) -> Value {
        self.raw(of).cloned().unwrap_or(Value::Null)
    }

    /// The member with its value in another object; `null` when it is absent there.
    pub(crate) fn of(self, other: &(impl Members + ?Sized)) -> (&'static str, Value) {
        (self.name, self.copy(other))
    }

    /// Whether the member exists, even as `null`.
    pub(crate) fn is_in(self, object: &Object) -> bool {
        object.contains_key(self.name)
    }

    /// The name and a value, to build an object.
    pub(crate) fn to(self, value: impl Content<K>) -> (&'static str, Value) {
        (self.name, value.into_value())
    }

    /// Sets the member in place, or appends it.
    pub(crate) fn set(self, object: &mut Object, value: impl Content<K>) {
        object.insert(self.name.to_owned(), value.into_value());
    }

    pub(crate) fn raw_mut(self, object: &mut Object) -> Option<&mut Value> {
        object.get_mut(self.name)
    }

    /// Removes the member and keeps the order of the others.
    pub(crate) fn remove(self, object: &mut Object) -> Option<Value> {
        object.shift_remove(self.name)
    }
}

impl<K: Kind> Member<K> {
    pub(crate) fn get(self, of: &(impl Members + ?Sized)) -> K::Read<'_> {
        K::read(of.member(self.name))
    }

    /// Whether the value exists and has another type; `null` counts as absent.
    pub(crate) fn is_mistyped(self, of: &(impl Members + ?Sized)) -> bool {
        self.given(of).is_some_and(|value| !K::TYPE.fits(value))
    }
}

impl Member<Timestamp> {
    pub(crate) fn text(self, of: &(impl Members + ?Sized)) -> Option<&str> {
        Text::read(self.raw(of))
    }
}

impl Member<Text> {
    /// The text, unless it is blank.
    pub(crate) fn filled(self, of: &(impl Members + ?Sized)) -> Option<&str> {
        self.get(of).filter(|text| !text.trim().is_empty())
    }

    /// Whether it is missing, null or an empty text.
    pub(crate) fn is_absent(self, of: &(impl Members + ?Sized)) -> bool {
        self.given(of).is_none_or(|value| value == "")
    }
}

impl Member<Texts> {
    /// The items of any type; none when the value is not a list.
    pub(crate) fn items(self, of: &(impl Members + ?Sized)) -> &[Value] {
        List::read(self.raw(of))
    }
}

impl Member<List> {
    pub(crate) fn objects(self, of: &(impl Members + ?Sized)) -> impl Iterator<Item = &Object> {
        self.get(of).iter().filter_map(Value::as_object)
    }
}

impl Member<Map> {
    /// The members of the object, in order; none when the value is not an object.
    pub(crate) fn entries(
        self,
        of: &(impl Members + ?Sized),
    ) -> impl Iterator<Item = (&String, &Value)> {
        self.get(of).into_iter().flatten()
    }
}

macro_rules! kinds {
    ($(
        $(#[doc = $about:literal])*
        $kind:ident: $read:ty, |$value:ident| $function:expr;
    )+) => {$(
        $(#[doc = $about])*
        pub(crate) struct $kind;

        impl Kind for $kind {
            const TYPE: MemberType = MemberType::$kind;
            type Read<'a> = $read;

            fn read($value: Option<&Value>) -> Self::Read<'_> {
                $function
            }
        }
    )+};
}

kinds! {
    Text: Option<&'a str>, |value| value.and_then(Value::as_str);
    /// A whole number from zero, in any JSON spelling.
    Count: Option<u64>, |value| value.and_then(wire::count_of);
    /// A whole number.
    Int: Option<i64>, |value| value.and_then(wire::integer_of);
    /// A number, such as an amount in dollars.
    Amount: Option<f64>, |value| value.and_then(Value::as_f64);
    /// A boolean. Anything but `true` reads as false.
    Flag: bool, |value| value == Some(&Value::Bool(true));
    Timestamp: Option<Time>, |value| Time::parse_iso(value?.as_str()?);
    /// A list. Anything else reads as empty.
    List: &'a [Value], |value| value.and_then(Value::as_array).map_or(&[], Vec::as_slice);
    /// A list of texts. Items of other types are skipped.
    Texts: Vec<String>, |value| texts(List::read(value));
    Map: Option<&'a Object>, |value| value.and_then(Value::as_object);
    Any: Option<&'a Value>, |value| value;
}

pub(crate) struct Word<N>(PhantomData<N>);

impl<N: Names> Kind for Word<N> {
    // Other runners may use further words.
    const TYPE: MemberType = MemberType::Text;
    type Read<'a> = Option<N>;

    fn read(value: Option<&Value>) -> Option<N> {
        value.and_then(Value::as_str).and_then(N::find)
    }
}

fn texts(items: &[Value]) -> Vec<String> {
    let texts = items.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

macro_rules! contents {
    ($($kind:ty: $($value:ty => |$name:ident| $written:expr),+;)+) => {$($(
        impl Content<$kind> for $value {
            fn into_value(self) -> Value {
                let $name = self;
                $written
            }
        }
    )+)+};
}

contents! {
    Text:
        &str => |text| text.into(),
        &String => |text| text.as_str().into(),
        String => |text| text.into(),
        &RunId => |id| id.as_str().into(),
        &TurnId => |id| id.as_str().into(),
        Time => |time| time.to_string().into(),
        CheckpointReason => |word| word.as_str().into(),
        GateType => |word| word.as_str().into(),
        LedgerType => |word| word.as_str().into(),
        LedgerDecision => |word| word.as_str().into();
    Count: u64 => |count| count.into(), usize => |count| count.into();
    Int: i64 => |number| number.into();
    // JSON cannot represent a number that is not finite.
    Amount: f64 => |amount| serde_json::Number::from_f64(amount)
        .map_or_else(|| 0.into(), Value::Number);
    Flag: bool => |flag| flag.into();
    Timestamp: Time => |time| time.to_string().into();
    List:
        Vec<Value> => |items| items.into(),
        Vec<Object> => |items| items.into_iter().map(Value::Object).collect();
    Map: Object => |object| object.into(), &Object => |object| object.clone().into();
    Word<EventType>: EventType => |word| word.as_str().into();
    Word<BarrierType>: BarrierType => |word| word.as_str().into();
    Word<LineType>: LineType => |word| word.as_str().into();
    Word<BarrierStatus>: BarrierStatus => |word| word.as_str().into();
    Word<CoordinatorStatus>: CoordinatorStatus => |word| word.as_str().into();
}

/// Values of other runners are copied with any type.
impl<K> Content<K> for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl<K, T: Content<K>> Content<K> for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, Content::into_value)
    }
}

impl<T: AsRef<str>> Content<Texts> for &[T] {
    fn into_value(self) -> Value {
        self.iter().map(|text| Value::from(text.as_ref())).collect()
    }
}

impl<T: AsRef<str>> Content<Texts> for &Vec<T> {
    fn into_value(self) -> Value {
        self.as_slice().into_value()
    }
}

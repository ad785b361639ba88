//! The trait of an operation, and `operation!`, which declares one.

use std::fmt;

use accord_base::Need;
use accord_contract::wire::about;
use accord_contract::{Code, Protocol};

use crate::body::{BodyKind, RequestBody};
use crate::declaration::{Answer, Body, Content, Declaration, Location, Parameter};
use crate::parameter::{DescribedMember, ParamSet};

/// One way to ask a host.
pub trait Operation: 'static {
    /// The parameters in the path.
    type Path: ParamSet;
    /// The parameters in the query.
    type Query: ParamSet;
    /// The body of the request.
    type Body: RequestBody;
    /// The body of a successful answer.
    type Answer: BodyKind;

    /// Its name: short, unique, stable.
    const NAME: &'static str;
    /// The method.
    const METHOD: Method;
    /// The path, with `{name}` for each parameter.
    const PATH: &'static str;
    /// What it does, line by line.
    const ABOUT: &'static [&'static str];
    /// What it needs of its caller.
    const NEED: Need;
    /// The protocol whose codes and error bodies its refusals have.
    const PROTOCOL: Protocol;
    /// The lists of its own failure codes, without those that every operation has.
    const CODES: &'static [&'static [Code]];
    /// Its successful answers.
    const SUCCESSES: &'static [Success];
    /// The headers that it reads.
    const HEADERS: fn() -> Vec<DescribedMember>;

    /// The operation without its types.
    fn declared() -> Declaration {
        let mut parameters = described(Location::Path, Self::Path::described());
        parameters.extend(described(Location::Query, Self::Query::described()));
        parameters.extend(described(Location::Header, (Self::HEADERS)()));
        let contents = <Self::Body as BodyKind>::contents().into_iter();
        let required = <Self::Body as RequestBody>::is_required();
        let answers = Self::SUCCESSES.iter().flat_map(|success| {
            let about = match success.about {
                "" => Self::Answer::about(),
                about => about,
            };
            let contents = match (success.contents)() {
                contents if contents.is_empty() => vec![None],
                contents => contents.into_iter().map(Some).collect(),
            };
            contents.into_iter().map(|content| Answer { status: success.status, about, content })
        });
        Declaration {
            name: Self::NAME,
            method: Self::METHOD,
            path: Self::PATH,
            summary: about(Self::ABOUT),
            parameters,
            body: contents.map(|content| Body { content, required }).next(),
            answers: answers.collect(),
            protocol: Self::PROTOCOL,
            group: "",
            need: Self::NEED,
            codes: Self::CODES.concat(),
        }
    }
}

/// The methods of operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// Nothing is changed.
    Get,
    /// Something is done.
    Post,
    /// Something is put in its place.
    Put,
    /// Something is changed in part.
    Patch,
    /// Something is removed.
    Delete,
}

impl Method {
    /// Its name in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A successful answer: the status, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// The status.
    pub status: u16,
    /// What it means. Empty: what the message of the answer says about itself.
    pub about: &'static str,
    /// The contents of its body; none if it has no body.
    pub contents: fn() -> Vec<Content>,
}

fn described(location: Location, members: Vec<DescribedMember>) -> Vec<Parameter> {
    let parameter = |member: DescribedMember| {
        let DescribedMember { definition, required, about } = member;
        Parameter::new(location, definition, about, required)
    };
    members.into_iter().map(parameter).collect()
}

/// Declares operations, one after the other.
///
/// ```
/// use accord_api::body::{Json, NoBody};
/// use accord_api::parameter::{NoParams, ParamSet, Text};
/// use accord_api::{Call, Method, Need, Operation as _, operation, params};
/// use accord_contract::codes::Code;
/// use accord_contract::message;
/// use accord_contract::wire::TextForm;
///
/// params! {
///     /// A note.
///     pub struct OfNote {
///         /// The note's name.
///         required note: Text = Text::new("note", TextForm::ANY);
///     }
/// }
///
/// message! {
///     /// A note.
///     pub struct Note("Note", open) {
///         /// What it says.
///         required text: String = "text", "text";
///     }
/// }
///
/// operation! {
///     /// Reads a note.
///     pub struct ReadNote("note", Get "/notes/{note}") of Alx {
///         path OfNote;
///         needs Need::Read;
///         answers 200, Json<Note>;
///         refuses [&[Code::StoreMissing]];
///     }
/// }
///
/// let call = Call::<ReadNote>::new(OfNote { note: "a/b".into() }, NoParams, NoBody);
/// assert_eq!(call.encode().target(), "/notes/a%2Fb");
/// assert_eq!(ReadNote::declared().answers[0].about, "A note.");
/// ```
///
/// * `path`, `query`, `body` and `refuses` are left out if there are none. `headers H;` after the
///   query names headers that the handler reads.
/// * After `answers`, `also 200 "…";` is another status with the same body, `or 200 "…", B;`
///   another kind of body, with which the answer is [`OneOf`](crate::body::OneOf) the two, and
///   `nothing 304 "…";` a status without a body.
#[macro_export]
macro_rules! operation {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($wire:literal, $method:ident $path_text:expr) of $protocol:ident
        {
            $(path $path:ty;)?
            $(query $query:ty;)?
            $(headers $headers:ty;)?
            $(body $body:ty;)?
            needs $need:expr;
            answers $status:literal $($says:literal)?, $answer:ty;
            $(also $also:literal $also_says:literal;)*
            $(or $or:literal $or_says:literal, $or_answer:ty;)?
            $(nothing $nothing:literal $nothing_says:literal;)*
            $(refuses [$($codes:expr),* $(,)?];)?
        }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        impl $crate::Operation for $name {
            type Path = $crate::operation!(@or $crate::parameter::NoParams $(, $path)?);
            type Query = $crate::operation!(@or $crate::parameter::NoParams $(, $query)?);
            type Body = $crate::operation!(@or $crate::body::NoBody $(, $body)?);
            type Answer = $crate::operation!(@answer $answer $(, $or_answer)?);

            const NAME: &'static str = $wire;
            const METHOD: $crate::Method = $crate::Method::$method;
            const PATH: &'static str = $path_text;
            const ABOUT: &'static [&'static str] = &[$($about),+];
            const NEED: $crate::Need = $need;
            const PROTOCOL: $crate::contract::codes::Protocol =
                $crate::contract::codes::Protocol::$protocol;
            const CODES: &'static [&'static [$crate::contract::codes::Code]] =
                &[$($($codes),*)?];
            const SUCCESSES: &'static [$crate::Success] = &[
                $crate::operation!(@success $status concat!($($says)?), $answer),
                $($crate::operation!(@success $also $also_says, $answer),)*
                $($crate::operation!(@success $or $or_says, $or_answer),)?
                $($crate::operation!(@success $nothing $nothing_says, $crate::body::NoBody),)*
            ];
            const HEADERS: fn() -> ::std::vec::Vec<$crate::parameter::DescribedMember> =
                $crate::operation!(@headers $($headers)?);
        }
    )+};

    (@or $none:ty) => { $none };
    (@or $none:ty, $given:ty) => { $given };
    (@answer $one:ty) => { $one };
    (@answer $one:ty, $other:ty) => { $crate::body::OneOf<$one, $other> };
    (@success $status:literal $about:expr, $body:ty) => {
        $crate::Success {
            status: $status,
            about: $about,
            contents: <$body as $crate::body::BodyKind>::contents,
        }
    };
    (@headers) => { ::std::vec::Vec::new };
    (@headers $headers:ty) => { <$headers as $crate::parameter::ParamSet>::described };
}

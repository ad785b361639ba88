//! Operations that no host serves yet: a client carries them out in its own process.

use accord_base::Need;
use accord_contract::Code;
use accord_contract::wire::about;

use crate::body::BodyKind;
use crate::declaration::Content;

/// An operation in process. It has no method and no path.
pub trait LocalOperation: 'static {
    /// What it answers.
    type Answer: BodyKind;

    /// Its name: short, unique, stable.
    const NAME: &'static str;
    /// What it does, line by line.
    const ABOUT: &'static [&'static str];
    /// What it needs of its caller.
    const NEED: Need;
    /// The lists of its failure codes.
    const CODES: &'static [&'static [Code]];

    /// The operation without its types.
    fn declared() -> LocalDeclaration {
        LocalDeclaration {
            name: Self::NAME,
            summary: about(Self::ABOUT),
            need: Self::NEED,
            answer: Self::Answer::contents().into_iter().next(),
            codes: Self::CODES.concat(),
        }
    }
}

/// An operation in process, as documents and tests describe it.
#[derive(Clone, Debug)]
pub struct LocalDeclaration {
    /// Its name: short, unique, stable.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: String,
    /// What it needs of its caller.
    pub need: Need,
    /// What it answers.
    pub answer: Option<Content>,
    /// Its failure codes.
    pub codes: Vec<Code>,
}

/// Declares an operation in process.
///
/// ```
/// use accord_api::body::Json;
/// use accord_api::{LocalOperation as _, Need, local_operation};
/// use accord_contract::codes::Code;
/// use accord_contract::message;
///
/// message! {
///     /// A note.
///     pub struct Note("Note", open) {
///         /// What it says.
///         required text: String = "text", "text";
///     }
/// }
///
/// local_operation! {
///     /// Reads a note.
///     pub struct ReadNote("note") {
///         needs Need::Read;
///         answers Json<Note>;
///         refuses [&[Code::StoreMissing]];
///     }
/// }
///
/// assert_eq!(ReadNote::declared().summary, "Reads a note.");
/// assert!(ReadNote::declared().codes.contains(&Code::StoreMissing));
/// ```
#[macro_export]
macro_rules! local_operation {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($wire:literal) {
            needs $need:expr;
            answers $answer:ty;
            refuses [$($codes:expr),* $(,)?];
        }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        impl $crate::LocalOperation for $name {
            type Answer = $answer;

            const NAME: &'static str = $wire;
            const ABOUT: &'static [&'static str] = &[$($about),+];
            const NEED: $crate::Need = $need;
            const CODES: &'static [&'static [$crate::contract::codes::Code]] = &[$($codes),*];
        }
    )+};
}

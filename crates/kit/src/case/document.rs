//! What the documents of all kinds of cases share.

/// Declares the document of a kind of case: its own members, and how they are written and read.
macro_rules! case_document {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident($wire:literal) of $kind:ident { $($members:tt)* }
        write |$case:ident, $task:ident| { $($member:ident: $value:expr),+ $(,)? }
        read |$document:ident| { $read:expr, oracle: $oracle:expr }
    ) => {
        accord_contract::message! {
            $(#[doc = $about])*
            pub struct $name($wire, closed) {
                /// The path of the file below the corpus, without its ending.
                required id: String = "id", "case-id";
                /// The protocol that the case belongs to.
                required protocol: String = "protocol", "protocol-name";
                /// The level that the case belongs to, in protocols that have levels.
                optional level: String = "level", "conformance-level";
                /// The tier that the case belongs to, in protocols that have tiers.
                optional tier: u64 = "tier", "conformance-tier";
                /// Whether the case decides the verdict.
                required strength: $crate::case::Strength = "strength", "strength";
                /// The ids of the clauses that the case proves.
                required clauses: Vec<String> = "clauses", "clause-ids";
                /// The property under test, in one sentence.
                required title: String = "title", "text-for-people";
                $($members)*
            }
        }

        impl $name {
            pub(super) fn of($case: &$crate::case::Case, $task: &$kind) -> Self {
                Self {
                    id: $case.id.clone(),
                    protocol: $case.protocol.clone(),
                    level: $case.level.clone(),
                    tier: $case.tier,
                    strength: $case.strength,
                    clauses: $case.clauses.clone(),
                    title: $case.title.clone(),
                    $($member: $value,)+
                }
            }
        }

        impl From<$name> for $crate::case::Case {
            fn from($document: $name) -> Self {
                Self {
                    id: $document.id,
                    protocol: $document.protocol,
                    level: $document.level,
                    tier: $document.tier,
                    strength: $document.strength,
                    clauses: $document.clauses,
                    profile: None,
                    title: $document.title,
                    task: $crate::case::Task::$kind($read),
                    oracle: $oracle,
                }
            }
        }
    };
}
pub(super) use case_document;

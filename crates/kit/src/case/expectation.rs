//! The expected answer: status, headers, body, and checks that a literal body cannot express.

use accord_contract::{Object, Value, message, wire_enum};

message! {
    /// An expected answer. A step lists several if a server has a choice; the first with a matching
    /// status that is met in full counts.
    pub struct Expectation("HttpExpectation", closed) {
        /// The matching statuses.
        required status: Vec<u64> = "status", "http-statuses";
        /// The expected headers, by name in lower case; others are allowed.
        optional headers: Object = "headers", "expectation";
        /// The expected body, by the rules of comparison; may contain assertions.
        optional body: Value = "body", "expectation";
        /// The failure code that the body must have, in any member.
        optional code: String = "code", "failure-code";
        /// Further checks.
        optional checks: Vec<Check> = "checks", "http-checks";
        /// The verdict of the whole case, if an answer like this ends it without a judgement.
        optional verdict: InsteadOfPass = "verdict", "case-verdict";
        /// Why that is the verdict.
        optional why: String = "why", "text-for-people";
    }
}

wire_enum! {
    /// How an answer can end a case without a verdict.
    pub enum InsteadOfPass("InsteadOfPass", closed) {
        /// The case does not apply to this server.
        Skip = "skip",
        /// The server says that it does not support what the case needs.
        NotImplemented = "not_implemented",
    }
}

message! {
    /// A check of an answer. A place is a JSON pointer into the body in which `*` is every element
    /// of a list.
    pub struct Check("Check", closed) {
        /// The property under test.
        required check: CheckKind = "check", "check-name";
        /// Where.
        optional at: String = "at", "json-places";
        /// The value to compare with; may contain assertions for `every` and `none`.
        optional value: Value = "value", "expectation";
        /// The values to compare with.
        optional values: Vec<Value> = "values", "values";
        /// The variable to compare with.
        optional name: String = "name", "variable-name";
        /// The place inside each element that decides.
        optional by: String = "by", "json-pointer";
        /// The direction of an order.
        optional order: Order = "order", "order-name";
        /// How values are compared.
        optional comparison: Comparison = "as", "comparison-name";
        /// The prefix of a text, or of the names of further members.
        optional prefix: String = "prefix", "text";
        /// How many digits follow.
        optional digits: u64 = "digits", "count";
        /// How many there must be.
        optional least: u64 = "least", "count";
        /// How many there may be.
        optional most: u64 = "most", "count";
        /// Names of members.
        optional names: Vec<String> = "names", "member-names";
        /// Members that are excluded from comparing or hashing.
        optional without: Vec<String> = "without", "member-names";
        /// Whether members that are not compared are allowed.
        optional more: bool = "more", "flag";
        /// Whether the value may be null.
        optional or_null: bool = "or_null", "flag";
        /// The member of an interval that says when it begins.
        optional start: String = "start", "member-name";
        /// The member of an interval that says when it ends.
        optional end: String = "end", "member-name";
        /// Whether gaps between intervals are allowed, and an end of the last one.
        optional gaps: bool = "gaps", "flag";
        /// The canonical form that is hashed.
        optional profile: String = "profile", "canonical-profile";
        /// The member with the digest; any place of the answer if absent.
        optional digest: String = "digest", "member-name";
        /// A text.
        optional text: String = "text", "text";
    }
}

/// Declares the checks with their required and optional members.
macro_rules! checks {
    ($(
        $(#[doc = $about:literal])*
        $variant:ident = $name:literal, [$($needs:literal),*], [$($may:literal),*];
    )+) => {
        wire_enum! {
            /// A check of an answer.
            pub enum CheckKind("CheckKind", closed) {
                $($(#[doc = $about])* $variant = $name,)+
            }
        }

        impl CheckKind {
            /// The required members of a check of this kind.
            pub fn needs(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($needs),*],)+ }
            }

            /// The optional members of a check of this kind.
            pub fn may_have(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($may),*],)+ }
            }
        }
    };
}

checks! {
    /// A time in RFC 3339 and UTC.
    Rfc3339Utc = "rfc3339_utc", ["at"], ["or_null"];
    /// The same time, in any spelling.
    Instant = "instant", ["at", "value"], [];
    /// The prefix, then exactly this many lower-case hexadecimal digits.
    PrefixHex = "prefix_hex", ["at", "prefix", "digits"], [];
    /// Two lower-case words, joined by a hyphen.
    HyphenatedWords = "hyphenated_words", ["at"], [];
    /// A value of a JSON type, or null if `or_null` is set.
    Type = "type", ["at", "value"], ["or_null"];
    /// One of these values.
    OneOf = "one_of", ["at", "values"], [];
    /// At least one place exists, and each matches this value.
    Every = "every", ["at", "value"], [];
    /// No place matches this value.
    None = "none", ["at", "value"], [];
    /// This many places exist.
    Count = "count", ["at"], ["least", "most"];
    /// All places have different values.
    Distinct = "distinct", ["at"], [];
    /// Whole numbers, each one more than the one before.
    Consecutive = "consecutive", ["at"], [];
    /// The elements of a list are in this order; equal neighbours are in any order.
    Sorted = "sorted", ["at", "by", "order", "as"], [];
    /// The elements of a list are intervals of time without gaps or overlaps, of which only the
    /// last has no end.
    JoinedIntervals = "joined_intervals", ["at", "start", "end"], ["gaps"];
    /// An object has these members, and no others except those with the prefix.
    OnlyMembers = "only_members", ["at", "names"], ["prefix"];
    /// The document in a variable, member by member.
    SameDocument = "same_document", ["at", "name"], ["without", "more"];
    /// A list with the items of the list in a variable, in any order.
    SameItems = "same_items", ["at", "name"], [];
    /// The answer has the SHA-256 of the canonical form of a document.
    Sha256OfCanonical = "sha256_of_canonical", ["profile"], ["at", "name", "digest", "without"];
    /// The answer has this text somewhere in its body or headers.
    ContainsText = "contains_text", ["text"], [];
    /// The answer has none of these texts in its body or headers.
    LacksTexts = "lacks_texts", ["values"], [];
    /// The body is this number, or has it in some member.
    HasNumber = "has_number", ["value"], [];
    /// The exchange was protected by TLS, or was local.
    ProtectedTransport = "protected_transport", [], [];
}

wire_enum! {
    /// The direction of an order.
    pub enum Order("Order", closed) {
        /// The smallest first.
        Ascending = "ascending",
        /// The largest first.
        Descending = "descending",
    }

    /// What values are compared as.
    pub enum Comparison("Comparison", closed) {
        /// Times.
        Instant = "instant",
        /// Numbers.
        Number = "number",
        /// Texts, character by character.
        Text = "text",
    }
}

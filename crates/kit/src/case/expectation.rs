//! The expected answer: status, headers, body, and checks that a literal body cannot express.

use accord_contract::wire::{Object, Value, message, wire_enum};

message! {
    /// What an answer must be. A step lists several where a server has a choice; the first whose
    /// status fits and that holds as a whole is the one that counts.
    pub struct Expectation("HttpExpectation", closed) {
        /// The statuses that fit.
        required status: Vec<u64> = "status", "http-statuses";
        /// What the headers must be, by name in lower case; others may be there.
        optional headers: Object = "headers", "expectation";
        /// What the body must be, by the rules of comparison; may hold assertions.
        optional body: Value = "body", "expectation";
        /// The failure code that the body must name, in whatever member.
        optional code: String = "code", "failure-code";
        /// Further checks.
        optional checks: Vec<Check> = "checks", "http-checks";
        /// The verdict of the whole case, where an answer like this ends it without a judgement.
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
        /// The server says that it does not have what the case asks for.
        NotImplemented = "not_implemented",
    }
}

message! {
    /// Something that must hold for an answer. A place is a JSON pointer into the body in which `*`
    /// stands for every element of a list.
    pub struct Check("Check", closed) {
        /// The property under test.
        required check: CheckKind = "check", "check-name";
        /// Where.
        optional at: String = "at", "json-places";
        /// The value to compare with; may hold assertions where the check says `every` or `none`.
        optional value: Value = "value", "expectation";
        /// The values to compare with.
        optional values: Vec<Value> = "values", "values";
        /// The variable to compare with.
        optional name: String = "name", "variable-name";
        /// The place inside each element that decides.
        optional by: String = "by", "json-pointer";
        /// The direction of an order.
        optional order: Order = "order", "order-name";
        /// What values are compared as.
        optional comparison: Comparison = "as", "comparison-name";
        /// What a text, or the name of a further member, begins with.
        optional prefix: String = "prefix", "text";
        /// How many digits follow.
        optional digits: u64 = "digits", "count";
        /// How many there must be.
        optional least: u64 = "least", "count";
        /// How many there may be.
        optional most: u64 = "most", "count";
        /// Names of members.
        optional names: Vec<String> = "names", "member-names";
        /// Members that are left out before comparing or hashing.
        optional without: Vec<String> = "without", "member-names";
        /// Whether further members may stand beside those that are compared.
        optional more: bool = "more", "flag";
        /// Whether the value may be null.
        optional or_null: bool = "or_null", "flag";
        /// The member of an interval that says when it begins.
        optional start: String = "start", "member-name";
        /// The member of an interval that says when it ends.
        optional end: String = "end", "member-name";
        /// Whether gaps may be between intervals, and the last may have an end.
        optional gaps: bool = "gaps", "flag";
        /// The canonical form that is hashed.
        optional profile: String = "profile", "canonical-profile";
        /// The member that carries the digest; anywhere in the answer where nothing is said.
        optional digest: String = "digest", "member-name";
        /// A text.
        optional text: String = "text", "text";
    }
}

/// Declares the checks with the members that each needs and those that it may have.
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
    /// The prefix, then exactly so many lower-case hexadecimal digits.
    PrefixHex = "prefix_hex", ["at", "prefix", "digits"], [];
    /// Two lower-case words, joined by a hyphen.
    HyphenatedWords = "hyphenated_words", ["at"], [];
    /// A value of a JSON type, or null where `or_null` says so.
    Type = "type", ["at", "value"], ["or_null"];
    /// One of these values.
    OneOf = "one_of", ["at", "values"], [];
    /// At least one place is there, and each holds this.
    Every = "every", ["at", "value"], [];
    /// No place holds this.
    None = "none", ["at", "value"], [];
    /// So many places are there.
    Count = "count", ["at"], ["least", "most"];
    /// No two places hold the same.
    Distinct = "distinct", ["at"], [];
    /// Whole numbers, each one more than that before.
    Consecutive = "consecutive", ["at"], [];
    /// The elements of a list are in this order; equal neighbours are in any.
    Sorted = "sorted", ["at", "by", "order", "as"], [];
    /// The elements of a list are intervals of time that join without gap or overlap, of which the
    /// last alone has no end.
    JoinedIntervals = "joined_intervals", ["at", "start", "end"], ["gaps"];
    /// An object has these members, and no others but those with the prefix.
    OnlyMembers = "only_members", ["at", "names"], ["prefix"];
    /// The document that a variable holds, member by member.
    SameDocument = "same_document", ["at", "name"], ["without", "more"];
    /// A list with the items of the list that a variable holds, in any order.
    SameItems = "same_items", ["at", "name"], [];
    /// The answer carries the SHA-256 of the canonical form of a document.
    Sha256OfCanonical = "sha256_of_canonical", ["profile"], ["at", "name", "digest", "without"];
    /// The answer has this text somewhere in its body or headers.
    ContainsText = "contains_text", ["text"], [];
    /// The answer has none of these texts in its body or headers.
    LacksTexts = "lacks_texts", ["values"], [];
    /// The body is this number, or has it in some member.
    HasNumber = "has_number", ["value"], [];
    /// The exchange was protected by TLS, or did not leave the machine.
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
}

wire_enum! {
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

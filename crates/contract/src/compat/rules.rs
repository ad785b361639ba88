//! The rules: which class a change has, and why. Fixed ones are part of the compatibility policy. A
//! team can change the class of the others.

use std::collections::BTreeMap;

use super::Class;
use crate::codes::{Code, Failure};
use crate::wire::{Names, Object, Value};

macro_rules! rules {
    ($(
        $variant:ident = $id:literal,
        $row:literal, $class:ident, $binding:ident, $about:literal;
    )+) => {
        /// A rule of the checker.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $about] $variant,)+
        }

        impl Rule {
            /// Every rule, in the order of the policy's table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The rule's id.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The row of the policy's table of changes; 0 if the table has none.
            pub const fn row(self) -> u8 {
                match self { $(Self::$variant => $row,)+ }
            }

            /// The class of a change by this rule, unless a team has set another.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)+ }
            }

            /// The rule in one sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)+ }
            }

            const fn binding(self) -> Binding {
                match self { $(Self::$variant => Binding::$binding,)+ }
            }
        }
    };
}

/// Whether the class of a rule can be changed.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Binding {
    /// Fixed by the policy.
    Fixed,
    /// A decision of Accord.
    Set,
    /// The checker cannot decide; there may be no change at all.
    Open,
}

#[rustfmt::skip]
rules! {
    OptionalFieldAdded = "optional-field-added", 1, MinorSafe, Fixed,
        "A new optional member is safe in a minor version.";
    CapabilityAdded = "capability-added", 2, MinorSafe, Fixed,
        "A new capability is safe in a minor version.";
    EventAdded = "event-added", 3, MinorSafe, Fixed,
        "A new event type that clients can ignore is safe in a minor version.";
    EventAddedNotIgnorable = "event-added-not-ignorable", 4, Major, Fixed,
        "A new event type that clients cannot ignore needs a major version.";
    AliasAdded = "alias-added", 5, MinorSafe, Fixed, "A new alias is safe in a minor version.";
    ErrorCodeAdded = "error-code-added", 6, MinorSafe, Fixed,
        "A new code within an existing error type is safe in a minor version.";
    FieldRemoved = "field-removed", 7, Major, Fixed,
        "Removing a canonical member needs a major version.";
    FieldRenamed = "field-renamed", 8, Major, Fixed,
        "Renaming a canonical member needs a major version.";
    SemanticsChanged = "semantics-changed", 9, Major, Fixed,
        "Changing what a canonical member means needs a major version.";
    FieldBecameRequired = "field-became-required", 10, Major, Fixed,
        "Making an optional member required needs a major version.";
    EventSemanticsChanged = "event-semantics-changed", 11, Major, Fixed,
        "Changing what an event type means needs a major version.";
    EventRemoved = "event-removed", 11, Major, Fixed,
        "Removing or renaming an event type needs a major version.";
    EnvelopeSemanticsChanged = "envelope-semantics-changed", 12, Major, Fixed,
        "Changing what the envelope guarantees needs a major version.";
    AliasChanged = "alias-changed", 13, MinorSafe, Fixed,
        "Pointing an alias elsewhere is safe while its canonical member is there.";
    AliasRemoved = "alias-removed", 13, MinorSafe, Fixed,
        "Removing an alias is safe in a minor version.";
    AliasMirrorWrong = "alias-mirror-wrong", 14, Violation, Fixed,
        "An alias repeats a canonical member of its message, with the same type and meaning.";
    AliasPromoted = "alias-promoted", 15, Major, Fixed,
        "Dropping a canonical member in favour of its alias needs a major version.";
    IdentityRuleChanged = "identity-rule-changed", 16, Major, Fixed,
        "Changing the hash function or the hashed members needs a major version.";
    IdentityTagKept = "identity-tag-kept", 16, Violation, Fixed,
        "Another way to hash needs another domain tag.";
    IdentityVectorsMissing = "identity-vectors-missing", 16, Violation, Fixed,
        "Another way to hash needs vectors for the new tag and, unchanged, for the old one.";
    DomainTagChanged = "domain-tag-changed", 17, Major, Fixed,
        "Changing the domain tag needs a major version.";
    VectorChanged = "vector-changed", 17, Major, Fixed,
        "Changing the hash of an existing vector needs a major version.";
    RequiredResponseFieldAdded = "required-response-field-added", 18, Major, Set,
        "A new required member of a response counts as one that became required.";
    RequiredRequestFieldAdded = "required-request-field-added", 19, Major, Set,
        "A new required member of a request breaks clients that do not send it.";
    ResponseFieldRelaxed = "response-field-relaxed", 20, Major, Set,
        "A response member that may now be missing breaks clients that rely on it.";
    RequestFieldRelaxed = "request-field-relaxed", 21, MinorSafe, Set,
        "A request member that may now be left out is safe.";
    TypeChanged = "type-changed", 22, Major, Set, "Another JSON type is another meaning.";
    BecameNullable = "became-nullable", 22, Major, Set,
        "A response member that may now be null breaks clients that rely on a value.";
    RequestBecameNullable = "request-became-nullable", 22, MinorSafe, Set,
        "A request member that may now be null is safe.";
    NoLongerNullable = "no-longer-nullable", 22, MinorSafe, Set,
        "A response member that is never null any more is safe.";
    RequestNoLongerNullable = "request-no-longer-nullable", 22, Major, Set,
        "A request member that must not be null any more breaks clients that send null.";
    CapabilityRemoved = "capability-removed", 23, MinorSafe, Set,
        "A capability is an advertisement; without it clients do less.";
    EnumValueRemoved = "enum-value-removed", 23, Major, Set,
        "A removed value breaks clients that send or expect it.";
    EnumValueAdded = "enum-value-added", 23, Major, Set,
        "A new value of a closed list in a response breaks clients that refuse it.";
    OpenEnumValueAdded = "open-enum-value-added", 23, MinorSafe, Set,
        "Readers of an open list accept new values.";
    RequestEnumValueAdded = "request-enum-value-added", 23, MinorSafe, Set,
        "A new value that may be sent is safe.";
    ResponseEnumOpened = "response-enum-opened", 23, Major, Set,
        "A response member that may now have any value breaks clients that only accept the list.";
    RequestEnumOpened = "request-enum-opened", 23, MinorSafe, Set,
        "A request member that may now have any value is safe.";
    ResponseEnumClosed = "response-enum-closed", 23, MinorSafe, Set,
        "A response member that is now limited to a list is safe.";
    RequestEnumClosed = "request-enum-closed", 23, Major, Set,
        "A request member that is now limited to a list breaks senders of other values.";
    ErrorCodeRemoved = "error-code-removed", 24, Major, Fixed,
        "Codes are stable; removing one needs a major version.";
    ErrorCodeMoved = "error-code-moved", 24, Major, Fixed,
        "Codes are stable; moving one to another type needs a major version.";
    ErrorTypeRemoved = "error-type-removed", 24, Major, Fixed,
        "Error types are stable; removing one needs a major version.";
    ErrorTypeAdded = "error-type-added", 24, NeedsReview, Set,
        "The policy allows new codes within known types and says nothing about a new type.";
    OptionalFieldRemoved = "optional-field-removed", 27, Major, Fixed,
        "Removing a canonical member needs a major version, also an optional one.";
    MessageAdded = "message-added", 0, MinorSafe, Set, "A new message has no users yet.";
    MessageRemoved = "message-removed", 0, Major, Fixed,
        "Removing a message removes all its canonical members.";
    DirectionChanged = "direction-changed", 0, NeedsReview, Open,
        "Who sends a message has changed, which decides many other rules.";
    SemanticsUnknown = "semantics-unknown", 0, NeedsReview, Open,
        "One side does not say what it means, so a change cannot be excluded.";
    EventIgnorabilityUnknown = "event-ignorability-unknown", 0, NeedsReview, Set,
        "The snapshot does not say whether clients can ignore a new event type.";
    EventBecameIgnorable = "event-became-ignorable", 0, MinorSafe, Set,
        "Clients may now ignore an event type that they had to know.";
    EventNoLongerIgnorable = "event-no-longer-ignorable", 0, Major, Set,
        "Clients that ignore an event type now miss something.";
    EnvelopeSemanticsAdded = "envelope-semantics-added", 0, NeedsReview, Set,
        "A new guarantee of the envelope may bind old clients.";
    IdentityAdded = "identity-added", 0, NeedsReview, Set,
        "Identity is defined where it was not before.";
    IdentityRemoved = "identity-removed", 0, Major, Fixed,
        "Without a definition of identity no hash can be checked any more.";
    VectorRemoved = "vector-removed", 0, NeedsReview, Set,
        "Without a vector, a change of its hash cannot be detected.";
    AttributeChanged = "attribute-changed", 0, NeedsReview, Open,
        "The checker does not know what this attribute means.";
}

impl Rule {
    /// Whether a team can set the class of the rule.
    pub fn is_settable(self) -> bool {
        self.binding() != Binding::Fixed
    }

    /// The mildest class that a change which needs review can turn out to have.
    pub(super) fn mildest(self) -> Class {
        match self.binding() {
            Binding::Open => Class::None,
            Binding::Fixed | Binding::Set => Class::MinorSafe,
        }
    }
}

impl Names for Rule {
    const NAME: &'static str = "CompatRule";
    const ALL: &'static [Self] = Self::ALL;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }
}

crate::wire_names! { Rule }

/// The classes that a team has changed.
#[derive(Clone, Debug, Default)]
pub struct Rules(BTreeMap<Rule, Class>);

impl Rules {
    /// Reads settings: rule id to class. Clauses: ALX-HONEST-RULES.
    pub fn parse(settings: &Object) -> Result<Self, Failure> {
        let classes = settings.iter();
        let classes = classes.map(|(id, class)| Ok((settable(id)?, parse_class(id, class)?)));
        classes.collect::<Result<_, _>>().map(Self)
    }

    /// The class that a change has by a rule.
    pub fn class(&self, rule: Rule) -> Class {
        self.0.get(&rule).copied().unwrap_or(rule.class())
    }
}

fn settable(id: &str) -> Result<Rule, Failure> {
    let problem = match Rule::find(id) {
        Some(rule) if rule.is_settable() => return Ok(rule),
        Some(rule) => format!("the policy fixes {id}: {}", rule.about()),
        None => format!("there is no rule {id}"),
    };
    let settable = Rule::ALL.iter().filter(|rule| rule.is_settable());
    let names: Vec<_> = settable.map(|rule| rule.as_str()).collect();
    let suggestion = format!("The rules that can be set are {}.", names.join(", "));
    Err(Failure::new(Code::CompatRuleInvalid, problem)
        .at(crate::wire::Pointer::Root.member(id).to_string())
        .suggesting(suggestion))
}

fn parse_class(id: &str, class: &Value) -> Result<Class, Failure> {
    class.as_str().and_then(Class::parse).ok_or_else(|| {
        let names: Vec<_> = Class::ALL.iter().map(|class| class.as_str()).collect();
        let problem = format!("the class of {id} is one of {}", names.join(", "));
        Failure::new(Code::CompatRuleInvalid, problem)
            .at(crate::wire::Pointer::Root.member(id).to_string())
    })
}

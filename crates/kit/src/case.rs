//! A case: one promise of a protocol as data, with what to do and what must come of it.

use accord_contract::wire::{Object, Value, message, wire_enum};

wire_enum! {
    /// How strongly a clause, or a case that proves it, binds an implementation.
    pub enum Strength("Strength", closed) {
        /// Decides the verdict.
        Must = "must",
        /// Reported, without a say in the verdict.
        Should = "should",
        /// Reported, without a say in the verdict.
        May = "may",
        /// Not part of the protocol yet; reported, without a say in the verdict.
        Proposal = "proposal",
    }
}

message! {
    /// What an adapter is to do.
    pub struct CaseInput("CaseInput", closed) {
        /// The operation, out of the protocol's list.
        required operation: String = "operation", "operation-name";
        /// Its arguments.
        required args: Object = "args", "operation-arguments";
    }
}

message! {
    /// One case of a conformance corpus.
    pub struct Case("Case", closed) {
        /// The path of the file below the corpus, without its ending.
        required id: String = "id", "case-id";
        /// The protocol whose promise this is.
        required protocol: String = "protocol", "protocol-name";
        /// The level that the case belongs to, in protocols that have levels.
        optional level: String = "level", "conformance-level";
        /// The tier that the case belongs to, in protocols that have tiers.
        optional tier: u64 = "tier", "conformance-tier";
        /// Whether the case decides the verdict.
        required strength: Strength = "strength", "strength";
        /// The ids of the clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// What must hold, in one sentence.
        required title: String = "title", "text-for-people";
        /// What must be there before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// What must come of it; may hold assertions in the place of values.
        required expected: Object = "expected", "expectation";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
    }
}

impl Case {
    /// The level, or the tier's number, as text.
    pub fn level(&self) -> String {
        match (&self.level, self.tier) {
            (Some(level), _) => level.clone(),
            (None, Some(tier)) => tier.to_string(),
            (None, None) => String::new(),
        }
    }

    /// The second segment of the id.
    pub fn area(&self) -> &str {
        self.id.split('/').nth(1).unwrap_or_default()
    }

    /// The expectation as a value, as the rules of comparison take it.
    pub fn expectation(&self) -> Value {
        Value::Object(self.expected.clone())
    }
}

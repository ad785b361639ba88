//! The identity rules, each under its domain tag.

use accord_canon::{Hash, Profile};
use accord_contract::alx::KB_DOMAIN_PREFIX;

/// How a block's identity is computed under one domain tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdentityRule {
    /// The prefix of the hashed bytes; it names the rule.
    pub tag: &'static str,
    pub hash: Hash,
    pub profile: Profile,
    /// The members that are hashed, in canonical order.
    pub scope: &'static [&'static str],
}

/// The rule of ALX 1. It does not change within that major version.
/// Clauses: ALX-KB-STABLE, ALX-KB-SCOPE, ALX-ID-SCOPE.
pub const KB_V1: IdentityRule = IdentityRule {
    tag: KB_DOMAIN_PREFIX,
    hash: Hash::Keccak256,
    profile: Profile::Alx,
    scope: &["artifactHash", "derivation", "domain", "payload", "sources", "tier", "type"],
};

/// Every rule, current and former.
pub const IDENTITY_RULES: [IdentityRule; 1] = [KB_V1];

//! The answers of `accord kb` as JSON: part of Accord's wire contract.

use accord_contract::codes::Category;
use accord_contract::compat::Direction;
use accord_contract::snapshot::Builder;
use accord_contract::{Extensible, Object, WireCode, message, wire_enum};

message! {
    /// The identity of a block.
    pub(crate) struct KbHashAnswer("KbHashAnswer", closed) {
        /// The line of a batch, from 1.
        optional line: u64 = "line", "line-number";
        /// The identity.
        required kb_hash: String = "kbHash", "digest:keccak-256:KB_V1";
    }

    /// The content id of a block's canonical form.
    pub(crate) struct KbCidAnswer("KbCidAnswer", closed) {
        /// The line of a batch, from 1.
        optional line: u64 = "line", "line-number";
        /// The content id.
        required cid: String = "cid", "cid-v1:raw:sha-256";
    }

    /// What verifying a block gave.
    pub(crate) struct KbVerifyAnswer("KbVerifyAnswer", closed) {
        /// The line of a batch, from 1.
        optional line: u64 = "line", "line-number";
        /// Nothing that the block states is wrong.
        required valid: bool = "valid", "verdict";
        /// The computed identity.
        required kb_hash: String = "kbHash", "digest:keccak-256:KB_V1";
        /// The computed hash of the payload; null where there is none.
        required_or_null artifact_hash: String = "artifactHash", "digest:keccak-256";
        /// How each stated hash compares.
        required checks: KbChecks = "checks", "comparisons";
        /// The failure codes of what is stated wrongly.
        required failures: Vec<WireCode> = "failures", "failure-codes";
    }

    /// How the hashes that a block states compare with the computed ones.
    pub(crate) struct KbChecks("KbChecks", closed) {
        /// The identity.
        required kb_hash: Comparison = "kbHash", "comparison";
        /// The hash of the payload.
        required artifact_hash: Comparison = "artifactHash", "comparison";
    }
}

wire_enum! {
    /// How a stated hash compares with the computed one.
    pub(crate) enum Comparison("Comparison", closed) {
        /// They are the same.
        Match = "match",
        /// They differ.
        Mismatch = "mismatch",
        /// Nothing is stated.
        Absent = "absent",
    }
}

message! {
    /// How a block becomes its identity.
    pub(crate) struct KbExplainAnswer("KbExplainAnswer", closed) {
        /// The line of a batch, from 1.
        optional line: u64 = "line", "line-number";
        /// The hashed members, in their normal form.
        required normalized: Object = "normalized", "block-members";
        /// Their canonical form.
        required canonical: String = "canonical", "canonical-json:alx";
        /// The domain tag.
        required tag: String = "tag", "domain-tag";
        /// What goes into the digest: the tag, then the canonical form.
        required hashed: String = "hashed", "hash-preimage";
        /// The members that are not hashed.
        required ignored: Vec<String> = "ignored", "member-names";
        /// The identity.
        required kb_hash: String = "kbHash", "digest:keccak-256:KB_V1";
        /// The content id.
        required cid: String = "cid", "cid-v1:raw:sha-256";
    }

    /// A line of a batch that was refused.
    pub(crate) struct KbRefusal("KbRefusal", closed) {
        /// The line, from 1.
        required line: u64 = "line", "line-number";
        /// Why.
        required error: LineError = "error", "failure";
    }

    /// Why a line was refused.
    pub(crate) struct LineError("LineError", closed) {
        /// The stable category.
        required kind: Extensible<Category> = "type", "failure-category";
        /// The code that programs act on.
        required code: WireCode = "code", "failure-code";
        /// What happened, for people.
        required message: String = "message", "text-for-people";
        /// The JSON pointer of the place; null where there is none.
        required_or_null pointer: String = "pointer", "json-pointer";
    }
}

pub(crate) fn add_to(snapshot: Builder) -> Builder {
    snapshot
        .message::<KbHashAnswer>(Direction::Response)
        .message::<KbCidAnswer>(Direction::Response)
        .message::<KbVerifyAnswer>(Direction::Response)
        .message::<KbExplainAnswer>(Direction::Response)
        .message::<KbRefusal>(Direction::Response)
}

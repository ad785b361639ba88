//! The seeded faults of ALX. Each wraps the honest implementation.

mod canonical;
mod compatibility;
mod identity;
mod lineage;
mod messages;
mod streams;
mod tools;

use accord_contract::faults::{Fault, active};

use self::tools::Honest;
use crate::{Answered, Call};

/// Declares the table: the name, the broken clause and the wrapper.
macro_rules! faults {
    ($($name:literal breaks $clause:literal: $wrapper:path;)+) => {
        /// Every fault.
        pub const FAULTS: &[Fault] = &[$(Fault { name: $name, clause: $clause }),+];

        /// The answer under the active fault, if that is one of these.
        pub(super) fn faulty(call: &Call, honest: Honest<'_>) -> Option<Answered> {
            match active()?.name {
                $($name => Some($wrapper(call, honest)),)+
                _ => None,
            }
        }
    };
}

faults! {
    "keys-by-code-point" breaks "ALX-CANON-KEYS": canonical::keys_by_code_point;
    "null-dropped" breaks "ALX-CANON-NULL": canonical::null_dropped;
    "numbers-as-rust-prints" breaks "ALX-CANON-NUMBERS": canonical::numbers_as_rust_prints;
    "non-ascii-escaped" breaks "ALX-CANON-UNICODE": canonical::non_ascii_escaped;
    "last-duplicate-wins" breaks "ALX-CANON-DUPLICATE-KEY": canonical::last_duplicate_wins;
    "surrogates-replaced" breaks "ALX-CANON-SURROGATE": canonical::surrogates_replaced;
    "integers-rounded" breaks "ALX-CANON-INEXACT": canonical::integers_rounded;
    "half-the-depth" breaks "ALX-CANON-DEPTH": canonical::half_the_depth;
    "place-not-named" breaks "ALX-CANON-POINTER": canonical::place_not_named;
    "sha256-for-keccak256" breaks "ALX-CANON-DIGESTS": canonical::sha256_for_keccak256;

    "hashed-without-tag" breaks "ALX-KB-TAG": identity::hashed_without_tag;
    "tag-ignored" breaks "ALX-KB-SCOPE": identity::tag_ignored;
    "whole-envelope-hashed" breaks "ALX-ID-EXCLUDED": identity::whole_envelope_hashed;
    "tier-not-hashed" breaks "ALX-ID-SCOPE": identity::tier_not_hashed;
    "tier-filled-in" breaks "ALX-ID-ABSENT": identity::tier_filled_in;
    "sources-not-sorted" breaks "ALX-ID-SOURCES-SORTED": identity::sources_not_sorted;
    "sources-folded" breaks "ALX-ID-SOURCES-VERBATIM": identity::sources_folded;
    "parents-ignored" breaks "ALX-ID-PARENTS": identity::parents_ignored;
    "duplicates-removed" breaks "ALX-ID-DUPLICATES": identity::duplicates_removed;
    "cid-of-the-document" breaks "ALX-ID-CID": identity::cid_of_the_document;
    "artifact-hash-tagged" breaks "ALX-ID-ARTIFACT-PAYLOAD": identity::artifact_hash_tagged;

    "unknown-member-refused" breaks "ALX-C1": messages::unknown_member_refused;
    "unknown-capability-reported" breaks "ALX-C2": messages::unknown_capability_reported;
    "unknown-code-refused" breaks "ALX-C3": messages::unknown_code_refused;
    "alias-believed" breaks "ALX-C4": messages::alias_believed;
    "newer-version-refused" breaks "ALX-C6": messages::newer_version_refused;
    "alias-not-written" breaks "ALX-ALIAS-CODE": messages::alias_not_written;
    "null-taken-for-absent" breaks "ALX-NULL-DISTINCT": messages::null_taken_for_absent;
    "version-not-reported" breaks "ALX-VERSION-REPORTED": messages::version_not_reported;
    "failure-with-ok-true" breaks "ALX-WG-08": messages::failure_with_ok_true;
    "unknown-code-retried" breaks "ALX-RETRY-UNKNOWN-UNSAFE": messages::unknown_code_retried;
    "auth-retried" breaks "ALX-RETRY-AUTH": messages::auth_retried;

    "stream-ends-at-unknown" breaks "ALX-C5": streams::stream_ends_at_unknown;
    "unknown-event-unrecorded" breaks "ALX-UNKNOWN-EVENT": streams::unknown_event_unrecorded;
    "any-type-emitted" breaks "ALX-WG-04": streams::any_type_emitted;
    "failed-run-emitted-as-ok" breaks "ALX-WG-09": streams::contradiction_emitted;

    "removal-is-minor" breaks "ALX-COMPAT-07": compatibility::removal_is_minor;
    "rename-unnoticed" breaks "ALX-COMPAT-08": compatibility::rename_unnoticed;
    "required-unnoticed" breaks "ALX-COMPAT-10": compatibility::required_unnoticed;
    "wrong-alias-accepted" breaks "ALX-COMPAT-14": compatibility::wrong_alias_accepted;
    "tag-kept-for-new-hash" breaks "ALX-COMPAT-16": compatibility::tag_kept_for_new_hash;
    "any-version-honest" breaks "ALX-HONEST-MAJOR": compatibility::any_version_honest;

    "unsorted-registered" breaks "ALX-BLOCK-SOURCES": lineage::unsorted_registered;
    "schema-before-sources" breaks "ALX-LINEAGE-ORDER": lineage::schema_before_sources;
    "orphan-registered" breaks "ALX-LINEAGE-REGISTERED": lineage::orphan_registered;
    "always-new" breaks "ALX-LINEAGE-IDEMPOTENT": lineage::always_new;
    "stranger-as-input" breaks "ALX-DERIVATION-INPUTS": lineage::stranger_as_input;
    "extra-member-refused" breaks "ALX-PAYLOAD-EXTRA": lineage::extra_member_refused;
    "tier-left-out" breaks "ALX-BUILD-TIER": lineage::tier_left_out;
}

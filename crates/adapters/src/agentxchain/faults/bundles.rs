//! Bundles that are not looked at closely.

use serde_json::{Value, json};

use super::tools::{Honest, Said, answered};
use crate::Call;

const VERIFY: &[&str] = &["verify_dispatch_manifest"];

pub(super) fn digest_not_compared(call: &Call, honest: Honest<'_>) -> Said {
    overlooking(call, honest, "digest_mismatch")
}

pub(super) fn stranger_unnoticed(call: &Call, honest: Honest<'_>) -> Said {
    overlooking(call, honest, "unexpected_file")
}

/// A verifier that does not see one kind of violation.
fn overlooking(call: &Call, honest: Honest<'_>, kind: &str) -> Said {
    answered(call, honest, VERIFY, |outcome| {
        let Some(Value::Array(errors)) = outcome.get_mut("verification_errors") else {
            return;
        };
        let before = errors.len();
        errors.retain(|error| error["type"] != kind);
        if errors.len() == before {
            return;
        }
        match errors.first().map(|error| error["type"].clone()) {
            Some(first) => outcome["error_type"] = first,
            None => {
                *outcome = json!({
                    "result": "success", "manifest_valid": true, "verification_errors": [],
                });
            }
        }
    })
}

pub(super) fn first_violation_only(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, VERIFY, |outcome| {
        if let Some(Value::Array(errors)) = outcome.get_mut("verification_errors") {
            errors.truncate(1);
        }
    })
}

pub(super) fn lists_itself(call: &Call, honest: Honest<'_>) -> Said {
    answered(call, honest, &["inspect_dispatch_manifest"], |outcome| {
        if outcome["result"] == "success" {
            outcome["manifest_contains_self"] = true.into();
        }
    })
}

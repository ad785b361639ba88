//! The codes, one line each: variant, code, protocol, category, retry class, HTTP
//! status, and one sentence that says what happened and what to do.

use super::{Category, Protocol, RetryClass};
use crate::wire::Names;

macro_rules! codes {
    ($($variant:ident = $code:literal, $protocol:ident, $category:ident, $retry:ident, $status:literal, $meaning:literal;)+) => {
        /// A failure that has a name.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as it stands on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The code that a text is, where the registry has it.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// Who defined the code.
            pub const fn protocol(self) -> Protocol {
                match self { $(Self::$variant => Protocol::$protocol,)+ }
            }

            /// The stable category; the `error.type` of the ALX envelope.
            pub const fn category(self) -> Category {
                match self { $(Self::$variant => Category::$category,)+ }
            }

            /// When the request may be sent again.
            pub const fn retry(self) -> RetryClass {
                match self { $(Self::$variant => RetryClass::$retry,)+ }
            }

            /// The HTTP status of an answer that carries the code.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// What happened and what to do, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

#[rustfmt::skip]
codes! {
    Usage = "USAGE", Accord, Validation, AfterChange, 400, "The command was called in a way that it does not know; run it with --help to see what it takes.";
    InputUnreadable = "INPUT_UNREADABLE", Accord, Validation, AfterChange, 400, "The input cannot be read, because it is not there, is a folder, or may not be opened; check the path and its rights.";
    InputTooLarge = "INPUT_TOO_LARGE", Accord, Validation, AfterChange, 413, "The input is larger than the limit; send a smaller document or split it.";
    OutputClosed = "OUTPUT_CLOSED", Accord, Execution, Never, 500, "Whoever read the output went away before its end; start again if the rest is needed.";
    OutputFailed = "OUTPUT_FAILED", Accord, Execution, AfterChange, 500, "The output cannot be written; check the path, its rights and the free space.";

    CanonInvalidJson = "CANON_INVALID_JSON", Accord, Validation, AfterChange, 400, "The text is not JSON; correct the syntax at the place that is named.";
    CanonInvalidUtf8 = "CANON_INVALID_UTF8", Accord, Validation, AfterChange, 400, "The bytes are not UTF-8; save the document in that encoding.";
    CanonDuplicateKey = "CANON_DUPLICATE_KEY", Accord, Validation, AfterChange, 422, "An object names the same member twice, so two readers could see two documents; keep one of them.";
    CanonLoneSurrogate = "CANON_LONE_SURROGATE", Accord, Validation, AfterChange, 422, "A string holds half of a surrogate pair, which is no character; complete or remove the escape.";
    CanonNullForbidden = "CANON_NULL_FORBIDDEN", Accord, Validation, AfterChange, 422, "There is a null where this canonical form has none; leave the member out or give it a value.";
    CanonNonFinite = "CANON_NON_FINITE", Accord, Validation, AfterChange, 422, "A number is too large for a double; write it smaller, or as a string.";
    CanonInexactInteger = "CANON_INEXACT_INTEGER", Accord, Validation, AfterChange, 422, "An integer would become another number in canonical form; write it as a string, or ask for rounding if that is meant.";
    CanonTooDeep = "CANON_TOO_DEEP", Accord, Validation, AfterChange, 422, "Lists and objects are nested past the limit; make the document flatter.";

    WireFieldMissing = "WIRE_FIELD_MISSING", Accord, Validation, AfterChange, 422, "A required member is not there; add it at the place that is named.";
    WireFieldType = "WIRE_FIELD_TYPE", Accord, Validation, AfterChange, 422, "A member has another JSON type than its message demands; change it at the place that is named.";
    WireFieldValue = "WIRE_FIELD_VALUE", Accord, Validation, AfterChange, 422, "A member has a value that its message does not allow; choose one of those that the message of this failure names.";
    WireFieldUnknown = "WIRE_FIELD_UNKNOWN", Accord, Validation, AfterChange, 422, "A closed message has a member that it does not know; remove it or correct its name.";

    SnapshotInvalid = "SNAPSHOT_INVALID", Accord, Validation, AfterChange, 422, "A document is not a contract snapshot; correct it at the place that is named.";
    CompatRuleInvalid = "COMPAT_RULE_INVALID", Accord, Validation, AfterChange, 422, "A rule setting names no rule, a rule that the policy fixes, or no class; use one of the rules and classes that are named.";

    KitCaseInvalid = "KIT_CASE_INVALID", Accord, Validation, AfterChange, 422, "A case file is not valid JSON, has a member that cases do not have, or contradicts itself; correct the file at the named place.";
    KitCorpusUnreadable = "KIT_CORPUS_UNREADABLE", Accord, Validation, AfterChange, 422, "A folder or file of the corpus cannot be read; check the path and its rights.";
    KitProtocolUnknown = "KIT_PROTOCOL_UNKNOWN", Accord, NotFound, AfterChange, 404, "No corpus for that protocol is there; choose one of those that the message lists.";
    KitCaseUnknown = "KIT_CASE_UNKNOWN", Accord, NotFound, AfterChange, 404, "No case has that id; list the cases to find the right one.";
    KitFilterInvalid = "KIT_FILTER_INVALID", Accord, Validation, AfterChange, 400, "The filter expression cannot be read; correct it at the named column.";
    KitBaselineInvalid = "KIT_BASELINE_INVALID", Accord, Validation, AfterChange, 422, "The baseline of known failures is not valid; correct the file at the named place.";
    KitBaselineStale = "KIT_BASELINE_STALE", Accord, Validation, AfterChange, 409, "A case that the baseline lists as a known failure passes or has expired; take the entry out.";
    KitAdapterNotFound = "KIT_ADAPTER_NOT_FOUND", Accord, NotFound, AfterChange, 404, "The adapter's program does not exist or cannot be executed; check the command.";
    KitAdapterProtocol = "KIT_ADAPTER_PROTOCOL", Accord, Execution, AfterChange, 502, "The adapter broke the fixture protocol by wrong output, a wrong exit code or an early end; correct the adapter.";
    KitAdapterTimeout = "KIT_ADAPTER_TIMEOUT", Accord, Execution, Backoff, 504, "The adapter gave no answer within the time limit of a case and was killed with its whole process group; raise the limit or make the adapter faster.";
    KitServerUnreachable = "KIT_SERVER_UNREACHABLE", Accord, Execution, Backoff, 502, "The server to judge cannot be reached or went away during a case; check its URL and that it runs.";
    KitServerTimeout = "KIT_SERVER_TIMEOUT", Accord, Execution, Backoff, 504, "The server to judge gave no whole answer within the time limit of a request or a case; raise the limit or make the server faster.";
    KitServerProtocol = "KIT_SERVER_PROTOCOL", Accord, Execution, AfterChange, 502, "The server to judge answered with something that is not HTTP, or with more than the limit; correct the server.";
    KitHarness = "KIT_HARNESS", Accord, Execution, Backoff, 500, "The kit itself could not run a case, for example because no temporary folder could be made; look at the message and try again.";
    KitNoCaseRan = "KIT_NO_CASE_RAN", Accord, Validation, AfterChange, 422, "No case was left to run; widen the filter or the level.";
    KitExportFailed = "KIT_EXPORT_FAILED", Accord, Execution, AfterChange, 500, "The corpus could not be written to that folder; choose an empty folder that can be written.";

    StoreFull = "STORE_FULL", Accord, Execution, AfterChange, 507, "The store has no room left and kept nothing of the request; free space on its disk or raise its limit, then send the request again.";
    StoreReadOnly = "STORE_READ_ONLY", Accord, Execution, AfterChange, 503, "The store can be read and not written; check the rights of its folder and whether its disk is mounted read-only.";
    StoreCorrupt = "STORE_CORRUPT", Accord, Execution, Never, 500, "What the store holds is damaged; stop the server, keep a copy of the folder, and restore a backup.";
    StoreBusy = "STORE_BUSY", Accord, Execution, Backoff, 503, "Too much work waits for the store and this request was not carried out; wait and send it again.";
    StoreLocked = "STORE_LOCKED", Accord, Execution, AfterChange, 409, "Another process has the store open; talk to that process, or end it first.";
    StoreUnavailable = "STORE_UNAVAILABLE", Accord, Execution, Backoff, 503, "The store cannot be reached or is closing, and whether the request was carried out is not known; send it again later.";
    StoreTooNew = "STORE_TOO_NEW", Accord, Execution, AfterChange, 500, "A later version wrote the store in a format that this one does not know; use that version.";
    StoreMissing = "STORE_MISSING", Accord, NotFound, AfterChange, 404, "There is no store in that place, or the file is no store; check the path.";
    StoreOccupied = "STORE_OCCUPIED", Accord, Validation, AfterChange, 409, "There is a store or file in that place already; choose another place, or say that it may be replaced.";
    StoreConflict = "STORE_CONFLICT", Accord, Execution, Backoff, 409, "Somebody else added, changed or removed the same thing in the meantime; look at it again and repeat the request.";
    StoreBroken = "STORE_BROKEN", Accord, Execution, Never, 500, "The work on the store broke off by a fault of the server and nothing of it was kept; report it with the server's log.";

    AuthRequired = "AUTH_REQUIRED", Alx, Auth, AfterCredentials, 401, "The request carries no credentials; authenticate and send it again.";
    Unauthorized = "UNAUTHORIZED", Alx, Auth, AfterCredentials, 401, "The credentials are not valid for this request; renew them and send it again.";
    LowConfidence = "LOW_CONFIDENCE", Alx, Approval, AfterChange, 409, "No answer reached the confidence that is asked for; refine the intent, look at the alternatives, or force the run.";
    NoArtifactSelected = "NO_ARTIFACT_SELECTED", Alx, Approval, AfterChange, 409, "No artifact fits the intent; widen the intent or name an artifact.";
    RateLimited = "RATE_LIMITED", Alx, Execution, Backoff, 429, "Too many requests came in a short time and this one was not carried out; wait and send it again.";
    NonceReused = "NONCE_REUSED", Alx, Auth, AfterChange, 409, "A signed request carries a nonce that its signer has used before; sign it again with a new one.";
    MalformedRequest = "MALFORMED_REQUEST", Alx, Validation, AfterChange, 400, "A signed request lacks a part or has one of the wrong form; build it as the request format says.";

    EventTypeNotEmittable = "EVENT_TYPE_NOT_EMITTABLE", Alx, Validation, AfterChange, 422, "An event's type is not in the closed list of its stream; emit one that is.";
    EventOutcomeContradiction = "EVENT_OUTCOME_CONTRADICTION", Alx, Validation, AfterChange, 422, "An event's type and its ok member disagree; run.completed carries ok true and run.failed carries ok false.";

    InvalidEnvelope = "INVALID_ENVELOPE", Alx, Validation, AfterChange, 422, "A Knowledge Block envelope lacks a member or has one of the wrong form; correct it at the place that is named.";
    SourcesNotSorted = "SOURCES_NOT_SORTED", Alx, Validation, AfterChange, 422, "The sources of a Knowledge Block are not in ascending order; sort them.";
    SchemaInvalid = "SCHEMA_INVALID", Alx, Validation, AfterChange, 422, "The payload is not what its type demands, or the type is not known; correct it at the place that is named.";
    SelfReference = "SELF_REFERENCE", Alx, Validation, AfterChange, 422, "A Knowledge Block names itself as a source; remove that source.";
    UnregisteredSource = "UNREGISTERED_SOURCE", Alx, Validation, AfterChange, 422, "A source of a Knowledge Block is not registered; register it first.";
    CycleDetected = "CYCLE_DETECTED", Alx, Validation, AfterChange, 422, "The sources of a Knowledge Block lead back to it; remove the source that closes the circle.";
    KbDuplicateSource = "KB_DUPLICATE_SOURCE", Alx, Validation, AfterChange, 422, "A source is named twice, and implementations disagree about its hash; name it once, or say how duplicates are to be read.";
    KbHashMismatch = "KB_HASH_MISMATCH", Alx, Validation, AfterChange, 422, "The kbHash that an envelope carries is not the hash of its content; take the computed one, or find out who changed the content.";
    KbArtifactMismatch = "KB_ARTIFACT_MISMATCH", Alx, Validation, AfterChange, 422, "The artifactHash that an envelope carries is not the hash of its payload; take the computed one, or find out who changed the payload.";

    AgenticInvalidSchema = "invalid_schema", Agentic, Validation, AfterChange, 400, "A document or parameter lacks something, or has something of the wrong form; correct it at the place that is named.";
    AgenticHashMismatch = "hash_mismatch", Agentic, Validation, AfterChange, 400, "The content_hash that came with a package is not the hash of its content; leave it out or find out what changed the package on the way.";
    AgenticPayloadTooLarge = "payload_too_large", Agentic, Validation, AfterChange, 413, "The body is larger than the limit; split it, or store large deliverables as blobs.";
    AgenticTooManyItems = "too_many_items", Agentic, Validation, AfterChange, 400, "A list has more items than the limit; shorten it, or spread it over several packages.";
    AgenticTextTooLong = "text_too_long", Agentic, Validation, AfterChange, 400, "A text or id is longer than the limit; shorten it, or store it as a deliverable.";
    AgenticTooDeep = "too_deep", Agentic, Validation, AfterChange, 400, "Lists and objects are nested past the limit; make the document flatter.";
    AgenticInvalidTransition = "invalid_transition", Agentic, Validation, AfterChange, 400, "A package cannot go from its status to the one that is asked for; look at its status, and correct a complete package by depositing a new one that names it as parent.";
    AgenticInvalidCursor = "invalid_cursor", Agentic, Validation, AfterChange, 400, "A cursor is not one that this listing gave out; start again without one.";
    AgenticDuplicatePackageId = "duplicate_package_id", Agentic, Validation, AfterChange, 409, "The project already has a package of this id with other content; deposit it under a new id, and name the old one as parent if it corrects it.";
    AgenticAmbiguousPackageId = "ambiguous_package_id", Agentic, Validation, AfterChange, 409, "Several projects have a package of this id; say which project is meant.";
    AgenticDuplicateProjectId = "duplicate_project_id", Agentic, Validation, AfterChange, 409, "There is already another project of this id; choose another id, or change the project that is there.";
    AgenticDuplicateFactId = "duplicate_fact_id", Agentic, Validation, AfterChange, 409, "The project already has another fact of this id; leave the id out to get a new one.";
    AgenticDuplicateSessionId = "duplicate_session_id", Agentic, Validation, AfterChange, 409, "The project already has another session of this id; import it into an empty project.";
    AgenticFactOutOfOrder = "fact_out_of_order", Agentic, Validation, AfterChange, 409, "The fact begins before one that is already known, and the request refuses that; give a later valid_from or allow it to be filled in.";
    AgenticFactOverlap = "fact_overlap", Agentic, Validation, AfterChange, 409, "An imported fact holds at a time at which another fact of its subject and predicate holds; correct its times, or import into an empty project.";
    AgenticPackageNotFound = "package_not_found", Agentic, NotFound, AfterChange, 404, "There is no package of this id, or it may not be seen with this key; check the id and the project.";
    AgenticProjectNotFound = "project_not_found", Agentic, NotFound, AfterChange, 404, "There is no project of this id, or it may not be seen with this key; check the id, or create the project.";
    AgenticFactNotFound = "fact_not_found", Agentic, NotFound, AfterChange, 404, "There is no fact of this id, or it may not be seen with this key; check the id and the project.";
    AgenticSessionNotFound = "session_not_found", Agentic, NotFound, AfterChange, 404, "There is no session of this id, or it may not be seen with this key; check the id and the project.";
    AgenticProjectArchived = "project_archived", Agentic, Validation, AfterChange, 403, "The project is archived and takes no writes; restore it first.";
    AgenticUnauthorized = "unauthorized", Agentic, Auth, AfterCredentials, 403, "The key is not known, or does not cover this project, verb or actor; use a key that does.";
    AgenticSearchNotSupported = "search_not_supported", Agentic, Execution, Never, 501, "This server cannot search; pull the latest packages instead, or ask a server that has the capability that is named.";
    AgenticNotImplemented = "not_implemented", Agentic, Execution, Never, 501, "This server does not have the capability that is named; look at /v1/conformance for what it has.";
    AgenticIntegrityError = "integrity_error", Agentic, Execution, Never, 500, "A stored package no longer matches its hash and is not served; verify the store and restore the package from a backup.";
}

impl Names for Code {
    const NAME: &'static str = "ErrorCode";
    const ALL: &'static [Self] = Self::ALL;
    // A contract lists codes by category, so that a new one changes no message.
    const LISTED: bool = false;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }
}

crate::wire_names! { Code }

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_line_is_sound() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            let text = code.as_str();
            assert!(seen.insert(text), "{text} is declared twice");
            assert_eq!(Code::parse(text), Some(*code));
            let letter = |c: char| match code.protocol() {
                Protocol::Agentic => c.is_ascii_lowercase(),
                Protocol::Accord | Protocol::Alx => c.is_ascii_uppercase(),
            };
            let tidy = |c: char| letter(c) || c.is_ascii_digit() || c == '_';
            assert!(text.chars().all(tidy) && text.starts_with(letter));
            assert!(
                (400..600).contains(&code.http_status()),
                "{text} is no failure"
            );
            assert_ne!(code.retry(), RetryClass::Conservative, "{text} is known");
            let meaning = code.meaning();
            assert!(
                meaning.ends_with('.') && meaning.contains("; "),
                "{text} says what, not what to do"
            );
        }
    }

    #[test]
    fn the_variant_is_the_code_in_rust_letters() {
        for code in Code::ALL {
            let camel: String = (code.as_str().split('_'))
                .map(|word| format!("{}{}", word[..1].to_uppercase(), word[1..].to_lowercase()))
                .collect();
            // Two protocols spell one word in two ways; the variant says whose it is.
            let owner = match code.protocol() {
                Protocol::Agentic => "Agentic",
                Protocol::Accord | Protocol::Alx => "",
            };
            assert_eq!(format!("{code:?}"), format!("{owner}{camel}"));
        }
    }

    #[test]
    fn credentials_and_waiting_belong_to_their_categories() {
        for code in Code::ALL {
            let waits = code.retry() == RetryClass::Backoff;
            assert!(!waits || code.category() == Category::Execution, "{code}");
            let credentials = code.retry() == RetryClass::AfterCredentials;
            assert!(!credentials || code.category() == Category::Auth, "{code}");
        }
    }
}

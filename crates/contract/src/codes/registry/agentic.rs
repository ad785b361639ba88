//! The codes of the Agentic Protocol 0.1.

#[rustfmt::skip]
macro_rules! agentic_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Agentic {
    AgenticInvalidSchema = "invalid_schema", Validation, AfterChange, 400,
        "A document or parameter lacks a member, or has one of the wrong form; correct it at the \
         named place.";
    AgenticHashMismatch = "hash_mismatch", Validation, AfterChange, 400,
        "The content_hash of a package is not the hash of its content; leave it out, or find out \
         what changed the package on the way.";
    AgenticBlobDigestMismatch = "blob_digest_mismatch", Validation, AfterChange, 400,
        "The content does not have the digest in its path, and was not kept; send all of it again, \
         under its own digest.";
    AgenticPayloadTooLarge = "payload_too_large", Validation, AfterChange, 413,
        "The body is larger than the limit; split it, or store large deliverables as blobs.";
    AgenticTooManyItems = "too_many_items", Validation, AfterChange, 400,
        "A list has more items than the limit; shorten it, or spread it over several packages.";
    AgenticTextTooLong = "text_too_long", Validation, AfterChange, 400,
        "A text or id is longer than the limit; shorten it, or store it as a deliverable.";
    AgenticCredentialFound = "credential_found", Validation, AfterChange, 400,
        "The document contains a private key, a token or a key of Accord at the named place; \
         remove it, and revoke it if others could read it. If it must be stored, allow it: \
         `--allow-credentials`, the header X-Accord-Allow-Credentials: true, or the argument \
         allow_credentials of the tool.";
    AgenticReservedPackage = "reserved_package", Validation, AfterChange, 400,
        "The author `script:accord`, x-approved_by and an x-source with a protocol are those of \
         packages that Accord makes itself from a recorded decision; name the author of the \
         package, and leave these members out. Copies of a project are imported.";
    AgenticTooDeep = "too_deep", Validation, AfterChange, 400,
        "Lists and objects are nested past the limit; make the document flatter.";
    AgenticInvalidTransition = "invalid_transition", Validation, AfterChange, 400,
        "A package cannot change from its status to the requested one; look at its status. To \
         correct a complete package, deposit a new one that names it as parent.";
    DecisionStale = "decision_stale", Approval, AfterChange, 412,
        "Somebody else decided first, or what the decision is about has changed since it was \
         read; read it again, then decide. The message says who did what, and when.";
    AgenticInvalidCursor = "invalid_cursor", Validation, AfterChange, 400,
        "The cursor was not issued by this listing; start again without one.";
    AgenticEventCursorTooOld = "event_cursor_too_old", NotFound, AfterChange, 410,
        "The events after this cursor are no longer kept; read the state again, then follow from \
         the named oldest event or from now on.";
    AgenticDuplicatePackageId = "duplicate_package_id", Validation, AfterChange, 409,
        "The project already has a package with this id and other content; deposit it under a new \
         id, and name the old one as parent if it corrects it.";
    AgenticAmbiguousPackageId = "ambiguous_package_id", Validation, AfterChange, 409,
        "Several projects have a package with this id, or several packages have an id that begins \
         with it; name the project, or give more of the id.";
    AgenticAmbiguousFactId = "ambiguous_fact_id", Validation, AfterChange, 409,
        "Several projects have a fact with this id; name the project.";
    AgenticAmbiguousSessionId = "ambiguous_session_id", Validation, AfterChange, 409,
        "Several projects have a session with this id; name the project.";
    AgenticDuplicateProjectId = "duplicate_project_id", Validation, AfterChange, 409,
        "There is already another project with this id; choose another id, or change the existing \
         project.";
    AgenticProjectNotEmpty = "project_not_empty", Validation, AfterChange, 409,
        "The project holds packages, facts, sessions, blobs, tasks or live sessions, and was not \
         created for a conformance run, so it cannot be removed; archive it instead.";
    AgenticDuplicateFactId = "duplicate_fact_id", Validation, AfterChange, 409,
        "The project already has another fact with this id; leave the id out to get a new one.";
    AgenticDuplicateSessionId = "duplicate_session_id", Validation, AfterChange, 409,
        "The project already has another session with this id; import it into an empty project.";
    AgenticFactOutOfOrder = "fact_out_of_order", Validation, AfterChange, 409,
        "The fact begins before one that is already known, and the request does not allow that; \
         give a later valid_from, or allow backfilling.";
    AgenticFactOverlap = "fact_overlap", Validation, AfterChange, 409,
        "The valid time of an imported fact overlaps that of another fact with the same subject \
         and predicate; correct its times, or import into an empty project.";
    AgenticPackageNotFound = "package_not_found", NotFound, AfterChange, 404,
        "There is no package with this id, or this key cannot read it; check the id and the \
         project.";
    AgenticProjectNotFound = "project_not_found", NotFound, AfterChange, 404,
        "There is no project with this id, or this key cannot read it; check the id, or create the \
         project.";
    AgenticFactNotFound = "fact_not_found", NotFound, AfterChange, 404,
        "There is no fact with this id, or this key cannot read it; check the id and the project.";
    AgenticSessionNotFound = "session_not_found", NotFound, AfterChange, 404,
        "There is no session with this id, or this key cannot read it; check the id and the \
         project.";
    AgenticBlobNotFound = "blob_not_found", NotFound, AfterChange, 404,
        "There is no blob with this digest, or this key cannot read it; check the digest and the \
         project, or store it.";
    AgenticProjectArchived = "project_archived", Validation, AfterChange, 403,
        "The project is archived and accepts no writes; restore it first.";
    AccessDenied = "unauthorized", Auth, AfterCredentials, 403,
        "The key is unknown, or does not cover this project, verb or actor; use a key that does.";
    AgenticSearchNotSupported = "search_not_supported", Execution, Never, 501,
        "This server does not support search; pull the latest packages instead, or use a server \
         that has the named capability.";
    AgenticSearchUnavailable = "search_unavailable", Execution, Backoff, 503,
        "Search by meaning does not work at the moment, because the embeddings server cannot be \
         used; search by words, or try again later.";
    AgenticNotImplemented = "not_implemented", Execution, Never, 501,
        "This server does not have the named capability; see /v1/conformance for those that it \
         has.";
    AgenticIntegrityError = "integrity_error", Execution, Never, 500,
        "The stored content under this id was changed after it was written and is not served; run \
         accord context verify, then accord store repair, and restore the rest from a backup.";
    AgenticBlobDamaged = "blob_damaged", Execution, Never, 500,
        "The content of a stored blob no longer matches its digest and is not served; store it \
         again, or restore it from a backup.";
    } } };
}

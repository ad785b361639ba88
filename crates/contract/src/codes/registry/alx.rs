//! The codes of ALX 1.1.

#[rustfmt::skip]
macro_rules! alx_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Alx {
    AuthRequired = "AUTH_REQUIRED", Auth, AfterCredentials, 401,
        "The request carries no credentials; authenticate and send it again.";
    Unauthorized = "UNAUTHORIZED", Auth, AfterCredentials, 401,
        "The credentials are not valid for this request; renew them and send it again.";
    LowConfidence = "LOW_CONFIDENCE", Approval, AfterChange, 409,
        "No answer reached the required confidence; refine the intent, look at the alternatives, \
         or force the run.";
    NoArtifactSelected = "NO_ARTIFACT_SELECTED", Approval, AfterChange, 409,
        "No artifact fits the intent; widen the intent or name an artifact.";
    RateLimited = "RATE_LIMITED", Execution, Backoff, 429,
        "Too many requests arrived in a short time, and this one was not carried out; wait and \
         retry.";
    NonceReused = "NONCE_REUSED", Auth, AfterChange, 409,
        "A signed request has a nonce that its signer has used before; sign it again with a new \
         one.";
    MalformedRequest = "MALFORMED_REQUEST", Validation, AfterChange, 400,
        "A signed request lacks a part or has one of the wrong form; build it as the request \
         format requires.";

    EventTypeNotEmittable = "EVENT_TYPE_NOT_EMITTABLE", Validation, AfterChange, 422,
        "The type of an event is not in the closed list of its stream; emit one that is.";
    EventOutcomeContradiction = "EVENT_OUTCOME_CONTRADICTION", Validation, AfterChange, 422,
        "The type and the ok member of an event contradict each other; run.completed carries ok \
         true and run.failed carries ok false.";

    InvalidEnvelope = "INVALID_ENVELOPE", Validation, AfterChange, 422,
        "A Knowledge Block envelope lacks a member or has one of the wrong form; correct it at the \
         named place.";
    SourcesNotSorted = "SOURCES_NOT_SORTED", Validation, AfterChange, 422,
        "The sources of a Knowledge Block are not in ascending order; sort them.";
    SchemaInvalid = "SCHEMA_INVALID", Validation, AfterChange, 422,
        "The payload does not match the schema of its type, or the type is unknown; correct it at \
         the named place.";
    SelfReference = "SELF_REFERENCE", Validation, AfterChange, 422,
        "A Knowledge Block names itself as a source; remove that source.";
    UnregisteredSource = "UNREGISTERED_SOURCE", Validation, AfterChange, 422,
        "A source of a Knowledge Block is not registered; register it first.";
    CycleDetected = "CYCLE_DETECTED", Validation, AfterChange, 422,
        "The sources of a Knowledge Block form a cycle; remove the source that closes it.";
    KbDuplicateSource = "KB_DUPLICATE_SOURCE", Validation, AfterChange, 422,
        "A source is listed twice, and implementations disagree about the hash; list it once, or \
         choose how duplicates are read.";
    KbHashMismatch = "KB_HASH_MISMATCH", Validation, AfterChange, 422,
        "The kbHash of an envelope is not the hash of its content; use the computed one, or find \
         out who changed the content.";
    KbArtifactMismatch = "KB_ARTIFACT_MISMATCH", Validation, AfterChange, 422,
        "The artifactHash of an envelope is not the hash of its payload; use the computed one, or \
         find out who changed the payload.";
    } } };
}

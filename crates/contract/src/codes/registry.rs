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
    KitServerRefused = "KIT_SERVER_REFUSED", Accord, Auth, AfterCredentials, 403, "The server to judge lets the run do nothing, because its key is missing or may do too little; give a stronger key with --token, or name a project to read with --project.";
    KitServerTimeout = "KIT_SERVER_TIMEOUT", Accord, Execution, Backoff, 504, "The server to judge gave no whole answer within the time limit of a request or a case; raise the limit or make the server faster.";
    KitServerProtocol = "KIT_SERVER_PROTOCOL", Accord, Execution, AfterChange, 502, "The server to judge answered with something that is not HTTP, with more than the limit, or otherwise than the fixture protocol asks for; correct the server.";
    KitHarness = "KIT_HARNESS", Accord, Execution, Backoff, 500, "The kit itself could not run a case, for example because no temporary folder could be made; look at the message and try again.";
    KitNoCaseRan = "KIT_NO_CASE_RAN", Accord, Validation, AfterChange, 422, "No case was left to run; widen the filter or the level.";
    KitExportFailed = "KIT_EXPORT_FAILED", Accord, Execution, AfterChange, 500, "The corpus could not be written to that folder; choose an empty folder that can be written.";
    KitCapabilitiesUnreadable = "KIT_CAPABILITIES_UNREADABLE", Accord, NotFound, AfterChange, 404, "The implementation to judge does not tell what it claims: there is no file of capabilities that can be read, or the server does not answer with it; check the folder, the URL and the token.";
    KitCapabilitiesInvalid = "KIT_CAPABILITIES_INVALID", Accord, Validation, AfterChange, 422, "The capabilities of the implementation to judge are not what the fixture protocol asks for; correct them at the named place.";
    KitSurfaceUnclaimed = "KIT_SURFACE_UNCLAIMED", Accord, Validation, AfterChange, 422, "The implementation to judge does not claim that surface; choose one that it claims, or judge it without naming one.";

    StoreFull = "STORE_FULL", Accord, Execution, AfterChange, 507, "The store has no room left and kept nothing of the request; free space on its disk or raise its limit, then send the request again.";
    StoreReadOnly = "STORE_READ_ONLY", Accord, Execution, AfterChange, 503, "The store can be read and not written; check the rights of its folder and whether its disk is mounted read-only.";
    StoreCorrupt = "STORE_CORRUPT", Accord, Execution, Never, 500, "What the store holds is damaged; stop the server, keep a copy of the folder, and restore a backup.";
    StoreBusy = "STORE_BUSY", Accord, Execution, Backoff, 503, "Too much work waits for the store and this request was not carried out; wait and send it again.";
    StoreLocked = "STORE_LOCKED", Accord, Execution, AfterChange, 409, "Another process has the store open; talk to that process, or end it first.";
    StoreUnavailable = "STORE_UNAVAILABLE", Accord, Execution, Backoff, 503, "The store cannot be reached or is closing, and whether the request was carried out is not known; send it again later.";
    StoreTooNew = "STORE_TOO_NEW", Accord, Execution, AfterChange, 500, "A later version wrote the store in a format that this one does not know; use that version.";
    StoreMissing = "STORE_MISSING", Accord, NotFound, AfterChange, 404, "There is no store in that place, or the file is no store; check the path.";
    StoreFolderUnusable = "STORE_FOLDER_UNUSABLE", Accord, Execution, AfterChange, 500, "No data folder can be made in that place; choose another place, or check the folder above it and its rights.";
    StoreOccupied = "STORE_OCCUPIED", Accord, Validation, AfterChange, 409, "There is a store or file in that place already; choose another place, or say that it may be replaced.";
    StoreConflict = "STORE_CONFLICT", Accord, Execution, Backoff, 409, "Somebody else added, changed or removed the same thing in the meantime; look at it again and repeat the request.";
    StoreBroken = "STORE_BROKEN", Accord, Execution, Never, 500, "The work on the store broke off by a fault of the server and nothing of it was kept; report it with the server's log.";

    HttpRouteUnknown = "HTTP_ROUTE_UNKNOWN", Accord, NotFound, AfterChange, 404, "The server has no route of this path; look at /openapi.json for those that it has.";
    HttpMethodNotAllowed = "HTTP_METHOD_NOT_ALLOWED", Accord, Validation, AfterChange, 405, "The route does not know this method; use one of those that the header Allow names.";
    HttpMalformed = "HTTP_MALFORMED", Accord, Validation, AfterChange, 400, "The request is not HTTP as the server understands it; correct its path, headers or query.";
    HttpMediaType = "HTTP_MEDIA_TYPE", Accord, Validation, AfterChange, 415, "The route does not take a body of this media type; send the one that the message names.";
    HttpHeadersTooLarge = "HTTP_HEADERS_TOO_LARGE", Accord, Validation, AfterChange, 431, "The path and headers of the request are larger than the limit; send fewer or shorter ones.";
    HttpHeaderTimeout = "HTTP_HEADER_TIMEOUT", Accord, Execution, Backoff, 408, "The headers of the request came too slowly; send them again over a better line.";
    HttpBodyTimeout = "HTTP_BODY_TIMEOUT", Accord, Execution, Backoff, 408, "The body of the request came too slowly, and nothing was done; send it again over a better line.";
    HttpBodyBroken = "HTTP_BODY_BROKEN", Accord, Validation, AfterChange, 400, "The body of the request broke off before its end, and nothing was done; send all of it.";
    HttpTooManyConnections = "HTTP_TOO_MANY_CONNECTIONS", Accord, Execution, Backoff, 503, "The server has as many connections as it takes; wait and try again, or raise limits.connections.";
    HttpTooManyStreams = "HTTP_TOO_MANY_STREAMS", Accord, Execution, Backoff, 503, "The server has as many event streams as it takes; close one, wait, or raise limits.event_streams.";
    HttpHostRefused = "HTTP_HOST_REFUSED", Accord, Auth, AfterChange, 403, "The request names a host that this server does not go by; use its address, or list the name in allowed_hosts.";
    HttpOriginRefused = "HTTP_ORIGIN_REFUSED", Accord, Auth, AfterChange, 403, "A page of another site sent the request; list that site in allowed_origins if it may.";
    HttpFault = "HTTP_FAULT", Accord, Execution, Never, 500, "The server met a fault of its own while it answered; report it with the correlation id and the server's log.";
    HostClosing = "HOST_CLOSING", Accord, Execution, Backoff, 503, "The server is closing and takes no more requests; send it again when the server is back.";
    HostOwnerOnly = "HOST_OWNER_ONLY", Accord, Auth, AfterCredentials, 403, "Only whoever has the data folder may do this; use the accord command on the folder of the server.";
    KeyNotFound = "KEY_NOT_FOUND", Accord, NotFound, AfterChange, 404, "There is no key of this id; list the keys to find the right one.";

    SettingUnknown = "SETTING_UNKNOWN", Accord, Validation, AfterChange, 400, "A setting has a name that is not known; correct it, accord config show lists them all.";
    SettingInvalid = "SETTING_INVALID", Accord, Validation, AfterChange, 400, "A setting has a value that it cannot have; correct it in the place that is named.";
    ServeKeysNeeded = "SERVE_KEYS_NEEDED", Accord, Validation, AfterChange, 400, "A server that others can reach needs keys; create one with accord key create, or listen on 127.0.0.1.";
    ServeTlsNeeded = "SERVE_TLS_NEEDED", Accord, Validation, AfterChange, 400, "A server that others can reach needs TLS; give --tls-cert and --tls-key, or --behind-proxy where a proxy does it.";
    ServeTlsInvalid = "SERVE_TLS_INVALID", Accord, Validation, AfterChange, 400, "The certificate or its private key cannot be used; give PEM files that belong together.";
    ServeListenFailed = "SERVE_LISTEN_FAILED", Accord, Execution, AfterChange, 500, "The address cannot be listened on; choose a free one of this machine, port 0 takes any.";
    ServeSocketFailed = "SERVE_SOCKET_FAILED", Accord, Execution, AfterChange, 500, "The socket in the data folder cannot be made; choose a folder with a shorter path, on a disk that has sockets.";

    HostUnreachable = "HOST_UNREACHABLE", Accord, Execution, Backoff, 502, "No host answers at that address, or the connection broke off; check the URL, the network and that the host runs, then look whether the request was carried out.";
    HostTimeout = "HOST_TIMEOUT", Accord, Execution, Backoff, 504, "The host was silent for too long, and whether it carried the request out is not known; look, and send the request again.";
    HostTls = "HOST_TLS", Accord, Execution, AfterChange, 502, "No secure connection to the host came about; check its certificate and whom this system trusts.";
    HostProtocol = "HOST_PROTOCOL", Accord, Execution, AfterChange, 502, "What answers at that address does not answer as a host does; check the URL.";

    McpToolTwice = "MCP_TOOL_TWICE", Accord, Validation, AfterChange, 500, "Two tools have the same name, so a model could not tell them apart; give one of them another name, or offer only one of the two sets.";
    McpToolUnknown = "MCP_TOOL_UNKNOWN", Accord, NotFound, AfterChange, 404, "There is no tool or set of tools of this name; choose one of those that the message names.";
    McpArgumentMissing = "MCP_ARGUMENT_MISSING", Accord, Validation, AfterChange, 400, "A tool was called without an argument that it needs; call it again with the one that is named.";
    McpArgumentInvalid = "MCP_ARGUMENT_INVALID", Accord, Validation, AfterChange, 400, "An argument of a tool does not have the form that its schema asks for; call the tool again with the form that the message names.";
    McpArgumentUnknown = "MCP_ARGUMENT_UNKNOWN", Accord, Validation, AfterChange, 400, "A tool was called with an argument that it does not know; leave it out, or use the name that is meant.";
    McpBudgetTooSmall = "MCP_BUDGET_TOO_SMALL", Accord, Validation, AfterChange, 400, "Not even the smallest answer fits into max_tokens; ask with as many tokens as the message says.";
    McpSessionUnknown = "MCP_SESSION_UNKNOWN", Accord, NotFound, AfterChange, 404, "The MCP session is not there, has ended, or belongs to another key; initialize a new one.";
    McpTooManySessions = "MCP_TOO_MANY_SESSIONS", Accord, Execution, Backoff, 503, "The server has as many MCP sessions as it takes; end one, or wait until one was idle for long enough.";
    McpRequestInvalid = "MCP_REQUEST_INVALID", Accord, Validation, AfterChange, 400, "The request is not one of MCP over streamable HTTP; correct its headers or its body as the message says.";

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
    AgenticBlobDigestMismatch = "blob_digest_mismatch", Agentic, Validation, AfterChange, 400, "The content does not have the digest that its path names, and was not kept; send it again whole, under the digest that it has.";
    AgenticPayloadTooLarge = "payload_too_large", Agentic, Validation, AfterChange, 413, "The body is larger than the limit; split it, or store large deliverables as blobs.";
    AgenticTooManyItems = "too_many_items", Agentic, Validation, AfterChange, 400, "A list has more items than the limit; shorten it, or spread it over several packages.";
    AgenticTextTooLong = "text_too_long", Agentic, Validation, AfterChange, 400, "A text or id is longer than the limit; shorten it, or store it as a deliverable.";
    AgenticTooDeep = "too_deep", Agentic, Validation, AfterChange, 400, "Lists and objects are nested past the limit; make the document flatter.";
    AgenticInvalidTransition = "invalid_transition", Agentic, Validation, AfterChange, 400, "A package cannot go from its status to the one that is asked for; look at its status, and correct a complete package by depositing a new one that names it as parent.";
    AgenticInvalidCursor = "invalid_cursor", Agentic, Validation, AfterChange, 400, "A cursor is not one that this listing gave out; start again without one.";
    AgenticEventCursorTooOld = "event_cursor_too_old", Agentic, NotFound, AfterChange, 410, "The events behind this cursor are no longer kept; read the state again, then follow from the oldest event that is named or from now on.";
    AgenticDuplicatePackageId = "duplicate_package_id", Agentic, Validation, AfterChange, 409, "The project already has a package of this id with other content; deposit it under a new id, and name the old one as parent if it corrects it.";
    AgenticAmbiguousPackageId = "ambiguous_package_id", Agentic, Validation, AfterChange, 409, "Several projects have a package of this id; say which project is meant.";
    AgenticAmbiguousFactId = "ambiguous_fact_id", Agentic, Validation, AfterChange, 409, "Several projects have a fact of this id; say which project is meant.";
    AgenticAmbiguousSessionId = "ambiguous_session_id", Agentic, Validation, AfterChange, 409, "Several projects have a session of this id; say which project is meant.";
    AgenticDuplicateProjectId = "duplicate_project_id", Agentic, Validation, AfterChange, 409, "There is already another project of this id; choose another id, or change the project that is there.";
    AgenticDuplicateFactId = "duplicate_fact_id", Agentic, Validation, AfterChange, 409, "The project already has another fact of this id; leave the id out to get a new one.";
    AgenticDuplicateSessionId = "duplicate_session_id", Agentic, Validation, AfterChange, 409, "The project already has another session of this id; import it into an empty project.";
    AgenticFactOutOfOrder = "fact_out_of_order", Agentic, Validation, AfterChange, 409, "The fact begins before one that is already known, and the request refuses that; give a later valid_from or allow it to be filled in.";
    AgenticFactOverlap = "fact_overlap", Agentic, Validation, AfterChange, 409, "An imported fact holds at a time at which another fact of its subject and predicate holds; correct its times, or import into an empty project.";
    AgenticPackageNotFound = "package_not_found", Agentic, NotFound, AfterChange, 404, "There is no package of this id, or it may not be seen with this key; check the id and the project.";
    AgenticProjectNotFound = "project_not_found", Agentic, NotFound, AfterChange, 404, "There is no project of this id, or it may not be seen with this key; check the id, or create the project.";
    AgenticFactNotFound = "fact_not_found", Agentic, NotFound, AfterChange, 404, "There is no fact of this id, or it may not be seen with this key; check the id and the project.";
    AgenticSessionNotFound = "session_not_found", Agentic, NotFound, AfterChange, 404, "There is no session of this id, or it may not be seen with this key; check the id and the project.";
    AgenticBlobNotFound = "blob_not_found", Agentic, NotFound, AfterChange, 404, "There is no blob of this digest, or it may not be seen with this key; check the digest and the project, or store it.";
    AgenticProjectArchived = "project_archived", Agentic, Validation, AfterChange, 403, "The project is archived and takes no writes; restore it first.";
    AgenticUnauthorized = "unauthorized", Agentic, Auth, AfterCredentials, 403, "The key is not known, or does not cover this project, verb or actor; use a key that does.";
    AgenticSearchNotSupported = "search_not_supported", Agentic, Execution, Never, 501, "This server cannot search; pull the latest packages instead, or ask a server that has the capability that is named.";
    AgenticNotImplemented = "not_implemented", Agentic, Execution, Never, 501, "This server does not have the capability that is named; look at /v1/conformance for what it has.";
    AgenticIntegrityError = "integrity_error", Agentic, Execution, Never, 500, "What is stored under this id is no longer what was written and is not served; run accord context verify, then accord store repair, and restore what is left from a backup.";
    AgenticBlobDamaged = "blob_damaged", Agentic, Execution, Never, 500, "A stored blob no longer has its digest and is not served; store it again, or restore it from a backup.";

    XchainInvalidConfig = "invalid_config", Xchain, Validation, AfterChange, 422, "The governed configuration is not sound; correct agentxchain.json at the places that are named.";
    XchainSchemaVersionInvalid = "schema_version_invalid", Xchain, Validation, AfterChange, 422, "A governed document names a schema version that is not known here; write the one that is named.";
    XchainUndeclaredRuntimeReference = "undeclared_runtime_reference", Xchain, Validation, AfterChange, 422, "A role names a runtime that the configuration does not declare; declare it or name another.";
    XchainUndeclaredRoleReference = "undeclared_role_reference", Xchain, Validation, AfterChange, 422, "The routing names a role that the configuration does not declare; declare it or name another.";
    XchainUndeclaredGateReference = "undeclared_gate_reference", Xchain, Validation, AfterChange, 422, "The routing names a gate that the configuration does not declare; declare it or name another.";
    XchainStateInvalid = "state_invalid", Xchain, Execution, Never, 500, "The run's state document is damaged at the place that is named; restore it from version control or a backup.";
    XchainRecordInvalid = "record_invalid", Xchain, Execution, Never, 500, "A line of a governed record is damaged; look at it with doctor and restore it from version control or a backup.";
    XchainInvalidStateTransition = "invalid_state_transition", Xchain, Validation, AfterChange, 409, "The run is not in a state in which this can be done; look at its status.";
    XchainRecordsMissing = "records_missing", Xchain, Execution, AfterChange, 409, "The events tell of a run that state.json does not know, as after a git stash, checkout or reset of everything; bring its records back (git stash pop), or leave that run behind with accord run start --restart.";
    XchainImmutableField = "immutable_field", Xchain, Validation, Never, 409, "A member that never changes once the run has begun would change; begin a new run instead.";
    XchainUnknownRole = "unknown_role", Xchain, NotFound, AfterChange, 404, "The configuration declares no such role; name one that it declares.";
    XchainUnknownPhase = "unknown_phase", Xchain, NotFound, AfterChange, 404, "The routing has no such phase; name one that it has.";
    XchainRoleWithoutRuntime = "role_without_runtime", Xchain, Validation, AfterChange, 422, "The role has no runtime that could carry its turns; declare one.";
    XchainRuntimeNotSupported = "runtime_not_supported", Xchain, Execution, AfterChange, 501, "The role's runtime is of a type that Accord cannot run; give the role another runtime.";
    XchainTurnCapacityReached = "turn_capacity_reached", Xchain, Validation, AfterChange, 409, "The phase already has as many active turns as it may; wait for those that are named, or accept or reject one of them first.";
    XchainRoleAlreadyActive = "role_already_active", Xchain, Validation, AfterChange, 409, "The role already has an active turn; accept or reject that first.";
    XchainBudgetExhausted = "budget_exhausted", Xchain, Validation, AfterChange, 409, "The run's budget does not cover another turn; raise budget.per_run_max_usd in agentxchain.json, and resolve the run where it is blocked.";
    XchainBaselineDirty = "baseline_dirty", Xchain, Validation, AfterChange, 409, "The working tree has changes that belong to no turn; commit the files that are named, or put them alone aside with git stash push -u -- FILE. A stash of everything takes the run's own records away.";
    XchainCheckpointRequired = "checkpoint_required", Xchain, Validation, AfterChange, 409, "An accepted turn's changes are not committed yet; make its checkpoint first.";
    XchainTargetRequired = "target_required", Xchain, Validation, AfterChange, 409, "Several turns are active; say which one is meant.";
    XchainTurnNotActive = "turn_not_active", Xchain, NotFound, AfterChange, 404, "No active turn of the run has that id; look at the run's status.";
    XchainTurnAlreadyAccepted = "turn_already_accepted", Xchain, Validation, Never, 409, "The turn is in the history already, and nothing was done; go on with the next turn, and have a turn that is still active reissued.";
    XchainStaleStaging = "stale_staging", Xchain, Validation, AfterChange, 409, "The staged result belongs to another turn; stage the result of this one.";
    XchainLockTimeout = "lock_timeout", Xchain, Execution, Backoff, 409, "Another process works on the repository and holds its lock; wait for it, or end the process that is named.";
    XchainLockLost = "lock_lost", Xchain, Execution, Backoff, 409, "Another process took the repository's lock over, or removed it, while this one worked, and nothing more was written; look at the status, then do it again.";
    XchainCommitUnfinished = "commit_unfinished", Xchain, Execution, AfterChange, 500, "The change is decided and kept in its journal, but a file could not be written; mend what is named, and the next command finishes the change before anything else.";
    XchainNotGoverned = "not_governed", Xchain, NotFound, AfterChange, 404, "The folder is no governed repository, since it has no agentxchain.json; go to the root of one, or make one of it with accord run init.";
    XchainAlreadyGoverned = "already_governed", Xchain, Validation, AfterChange, 409, "The folder is a governed repository already, and nothing was written; go on with accord run status, or choose another folder.";
    XchainGitFailed = "git_failed", Xchain, Execution, AfterChange, 500, "Git could not do what was asked of it; do what its own words say, then try again.";
    XchainVersionControlChanged = "version_control_changed", Xchain, Validation, AfterChange, 409, "Git is not what it was when the turn was assigned, so that nobody can tell what the turn changed; restore what is named and accept the turn again; what you changed yourself is yours once you escalate and resolve the run, and a reissue takes the turn back.";
    XchainNothingToCheckpoint = "nothing_to_checkpoint", Xchain, Validation, AfterChange, 409, "No accepted turn has changes that wait to be committed; go on with the next turn.";
    XchainRuntimeUnavailable = "runtime_unavailable", Xchain, Execution, AfterChange, 409, "The program of a runtime is not on this machine or cannot be started; install it, or correct the runtime in agentxchain.json.";
    XchainGivenUp = "given_up", Xchain, Execution, AfterChange, 503, "The command was told to end before it was done, and changed nothing but the audit of hooks that had run; give it again.";
    XchainWorkerNotStarted = "worker_not_started", Xchain, Execution, Backoff, 502, "A turn's worker could not be started, or gave no sign of life in time; see what it said, mend it, and dispatch the turn again.";
    XchainWorkerStalled = "worker_stalled", Xchain, Execution, Backoff, 504, "A turn's worker went quiet and was ended; look at its output, then dispatch the turn again or reject it.";
    XchainWorkerTimedOut = "worker_timed_out", Xchain, Execution, Backoff, 504, "A turn's worker was not done at the turn's deadline and was ended; give it more time or less work, then dispatch the turn again.";
    XchainWorkerWithoutResult = "worker_without_result", Xchain, Execution, AfterChange, 502, "A turn's worker ended and staged no result; look at its output, correct its command or its prompt, and dispatch the turn again.";
    XchainWorkerFailed = "worker_failed", Xchain, Execution, Backoff, 502, "A turn's worker answered with an error, or with something that is no result; do what its words say, and dispatch the turn again.";
    XchainWorkerCancelled = "worker_cancelled", Xchain, Execution, AfterChange, 503, "The work on a turn was given up before it was done; the turn is still there: dispatch it again, or reject it.";
    XchainWorkerBusy = "worker_busy", Xchain, Execution, Backoff, 409, "A worker works on the turn, as the process that is named; wait for it, or end the command that waits for it, or that process, first.";
    XchainAttemptOver = "attempt_over", Xchain, Execution, AfterChange, 409, "Somebody rejected the turn while a worker was still at an earlier try, whose result was left out; look at the status, and go on with the next try.";
    XchainFileSystemFailed = "file_system_failed", Xchain, Execution, AfterChange, 500, "The operating system refused to read or write a file of the repository; make room or correct its permissions, then do it again.";
    XchainFileTooLarge = "file_too_large", Xchain, Validation, AfterChange, 413, "A file of the repository is larger than what is read of it; make it smaller.";
    XchainNotAFile = "not_a_file", Xchain, Validation, AfterChange, 422, "Where a file must be there is a folder, a pipe or a device; remove it.";
    XchainPathObstructed = "path_obstructed", Xchain, Validation, AfterChange, 409, "Something else is where a file or one of its folders must be made, and nothing was written; remove what is named or move it away, then do it again.";
    XchainAcceptanceOutOfStep = "acceptance_out_of_step", Xchain, Execution, Never, 500, "The acceptance of a turn was given an answer that it had not asked for; report it, and accept the turn again.";
    XchainValidationFailed = "validation_failed", Xchain, Validation, AfterChange, 422, "The staged result is not sound; correct what the named stage found and stage it again.";
    XchainMissingRequiredField = "missing_required_field", Xchain, Validation, AfterChange, 422, "A staged result lacks a member that every result has; add it.";
    XchainSchemaError = "schema_error", Xchain, Validation, AfterChange, 422, "A staged result is no JSON or has a member of the wrong form; correct it at the place that is named.";
    XchainInvalidDecisionIdFormat = "invalid_decision_id_format", Xchain, Validation, AfterChange, 422, "A decision's id has another form than DEC and a number; write it like DEC-001.";
    XchainRunIdMismatch = "run_id_mismatch", Xchain, Validation, AfterChange, 422, "A staged result belongs to another run; stage the result of this run.";
    XchainTurnIdMismatch = "turn_id_mismatch", Xchain, Validation, AfterChange, 422, "A staged result belongs to another turn; stage the result of the assigned one.";
    XchainAssignmentError = "assignment_error", Xchain, Validation, AfterChange, 422, "A staged result does not fit the assignment; correct the role or runtime that it names.";
    XchainArtifactError = "artifact_error", Xchain, Validation, AfterChange, 422, "What a staged result changed does not fit the role that changed it; correct the artifact or the files that it declares.";
    XchainReservedPathViolation = "reserved_path_violation", Xchain, Validation, AfterChange, 422, "A staged result claims a file that belongs to the run itself; leave that file alone.";
    XchainPathOutsideRepository = "path_outside_repository", Xchain, Validation, AfterChange, 422, "A path leads out of the repository or is none; name files inside it, relative to its root.";
    XchainVerificationError = "verification_error", Xchain, Validation, AfterChange, 422, "A staged result contradicts its own evidence; correct the verification that it declares.";
    XchainProtocolError = "protocol_error", Xchain, Validation, AfterChange, 422, "A staged result asks for something that the run's rules do not allow; correct what is named.";
    XchainChallengeRequirementViolated = "challenge_requirement_violated", Xchain, Validation, AfterChange, 422, "A role that only reviews raised no objection; raise at least one.";
    XchainMutuallyExclusiveRequests = "mutually_exclusive_requests", Xchain, Validation, AfterChange, 422, "A staged result asks for a phase transition and for the end of the run; ask for one of them.";
    XchainEmptyRequiredField = "empty_required_field", Xchain, Validation, AfterChange, 422, "A member that must say something is blank; fill it.";
    XchainInvalidEnumValue = "invalid_enum_value", Xchain, Validation, AfterChange, 422, "A member has a value outside its list; choose one of those that are named.";
    XchainDuplicateDecisionId = "duplicate_decision_id", Xchain, Validation, AfterChange, 409, "The run already has a decision of this id; use the next free one.";
    XchainOverrideValidationFailed = "override_validation_failed", Xchain, Validation, AfterChange, 409, "A decision overrides one that is not there, is no longer active, or belongs to a higher authority; name another or ask that role.";
    XchainArtifactMismatch = "artifact_mismatch", Xchain, Validation, AfterChange, 409, "The files that changed are not those that the result declares; declare them all, or undo the others.";
    XchainArtifactDirtyTreeMismatch = "artifact_dirty_tree_mismatch", Xchain, Validation, AfterChange, 409, "The working tree has changes that the result does not declare; declare them, or undo them.";
    XchainUndeclaredVerificationOutputs = "undeclared_verification_outputs", Xchain, Validation, AfterChange, 409, "The declared checks left files behind; name each in verification.produced_files as artifact or ignore, or in files_changed.";
    XchainEmptyWorkspaceArtifact = "empty_workspace_artifact", Xchain, Validation, AfterChange, 422, "A result claims work in the workspace and nothing changed there; declare a review instead.";
    XchainGateSemanticCoverage = "gate_semantic_coverage", Xchain, Validation, AfterChange, 409, "A result asks to leave the phase while its gate fails on files that the turn did not touch; mend those files first.";
    XchainVerificationReplayDrift = "verification_replay_drift", Xchain, Validation, AfterChange, 409, "The declared evidence could not be reproduced; correct the work or the evidence.";
    XchainPolicyViolation = "policy_violation", Xchain, Validation, AfterChange, 409, "A policy of the configuration forbids the result; see which, and correct the result or the policy.";
    XchainPolicyEscalation = "policy_escalation", Xchain, Approval, AfterChange, 409, "A policy of the configuration asks for a person, and the run is blocked; resolve it to go on.";
    XchainConflict = "conflict", Xchain, Validation, AfterChange, 409, "Another turn changed the same files after this one was assigned; reject and reassign it, or merge by hand.";
    XchainAcceptanceDrift = "acceptance_drift", Xchain, Validation, AfterChange, 409, "The working tree changed while the turn was being accepted; let everything come to rest and accept it again.";
    XchainGateActionFailed = "gate_action_failed", Xchain, Execution, AfterChange, 409, "A command of the gate failed and the approval was not carried out; mend what it reports and approve again.";
    XchainHookBlocked = "hook_blocked", Xchain, Validation, AfterChange, 409, "A hook refused; see its message in the hook audit.";
    XchainHookStateTamper = "hook_state_tamper", Xchain, Execution, AfterChange, 409, "A hook changed the run's state or one of its logs, which were restored; correct the hook.";
    XchainHookHistoryTamper = "hook_history_tamper", Xchain, Execution, AfterChange, 409, "A hook changed the run's history, which was restored; correct the hook.";
    XchainHookLedgerTamper = "hook_ledger_tamper", Xchain, Execution, AfterChange, 409, "A hook changed the decision ledger or the decisions of the repository, which were restored; correct the hook.";
    XchainHookBundleTamper = "hook_bundle_tamper", Xchain, Execution, AfterChange, 409, "A hook changed a protected file of the turn's bundle, its staged result or the lock, which were restored; correct the hook.";
    XchainInvalidEvent = "invalid_event", Xchain, Validation, AfterChange, 422, "An event lacks a member, or its type is not declared; correct it as named.";
    XchainInvalidEvents = "invalid_events", Xchain, Validation, AfterChange, 422, "A timeline is no list or is empty; give at least its first event.";
    XchainOrderingViolation = "ordering_violation", Xchain, Validation, AfterChange, 422, "The events of a run are not in an order in which they can have happened; see which are named.";
    XchainManifestInvalid = "manifest_invalid", Xchain, Validation, AfterChange, 409, "A dispatch bundle is not what its manifest says; write the bundle again before it is used.";
    XchainFinalizationFailed = "finalization_failed", Xchain, Execution, AfterChange, 409, "A dispatch bundle has no files to finalise; write the bundle first.";
    XchainInvalidCoordinatorConfig = "invalid_coordinator_config", Xchain, Validation, AfterChange, 422, "The coordinator's configuration is not sound; correct agentxchain-multi.json at the places that are named.";
    XchainWorkstreamCycle = "workstream_cycle", Xchain, Validation, AfterChange, 422, "Workstreams wait for each other in a circle; remove one of the dependencies.";
    XchainCoordinatorStateInvalid = "coordinator_state_invalid", Xchain, Execution, Never, 500, "A document of the coordinator is damaged at the place that is named; restore it from a backup.";
    XchainNoInitiative = "no_initiative", Xchain, Execution, AfterChange, 409, "No initiative was begun in this workspace; begin one.";
    XchainCrossRepoWriteViolation = "cross_repo_write_violation", Xchain, Validation, AfterChange, 422, "An accepted turn changed a file outside its own repository; undo that and accept the turn again.";
    XchainProjectionFailed = "projection_failed", Xchain, Validation, AfterChange, 422, "An acceptance names no repository, workstream or turn that the coordinator knows; correct what is named.";
    XchainNothingToDispatch = "nothing_to_dispatch", Xchain, Validation, AfterChange, 409, "No workstream can take a turn now; see the reason of each and remove it.";
    XchainCoordinatorGateBlocked = "coordinator_gate_blocked", Xchain, Approval, AfterChange, 409, "The coordinator's gate cannot be passed yet; see what blocks it.";
    XchainCoordinatorDiverged = "coordinator_diverged", Xchain, Execution, AfterChange, 409, "A repository is no longer as the coordinator knows it; resynchronise, or mend what is named.";
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
                Protocol::Agentic | Protocol::Xchain => c.is_ascii_lowercase(),
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
                Protocol::Xchain => "Xchain",
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

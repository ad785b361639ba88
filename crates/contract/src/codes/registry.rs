//! The codes, one entry each: variant, code, protocol, category, retry class, HTTP status, and one
//! sentence that says what happened and what to do.

use super::{Category, Protocol, RetryClass};
use crate::wire::Names;

macro_rules! codes {
    ($(
        $variant:ident = $code:literal,
        $protocol:ident, $category:ident, $retry:ident, $status:literal, $meaning:literal;
    )+) => {
        /// A failure code.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// Finds a code by its text.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// The protocol that defines the code.
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
    Usage = "USAGE", Accord, Validation, AfterChange, 400,
        "The command line is not valid; run the command with --help to see what it takes.";
    IdAmbiguous = "ID_AMBIGUOUS", Accord, Validation, AfterChange, 409,
        "Several ids begin with this text; type more of the id, or all of it.";
    InputUnreadable = "INPUT_UNREADABLE", Accord, Validation, AfterChange, 400,
        "The input cannot be read: it does not exist, is a folder, or permission is missing; check \
         the path and its permissions.";
    InputTooLarge = "INPUT_TOO_LARGE", Accord, Validation, AfterChange, 413,
        "The input is larger than the limit; send a smaller document or split it.";
    OutputClosed = "OUTPUT_CLOSED", Accord, Execution, Never, 500,
        "The reader of the output closed it before the end; the command then ends without a \
         message, with exit code 141, so that no document has this code.";
    OutputFailed = "OUTPUT_FAILED", Accord, Execution, AfterChange, 500,
        "The output cannot be written; check the path, its permissions and the free space.";

    CanonInvalidJson = "CANON_INVALID_JSON", Accord, Validation, AfterChange, 400,
        "The text is not JSON; correct the syntax at the named place.";
    CanonInvalidUtf8 = "CANON_INVALID_UTF8", Accord, Validation, AfterChange, 400,
        "The bytes are not UTF-8; save the document in that encoding.";
    CanonDuplicateKey = "CANON_DUPLICATE_KEY", Accord, Validation, AfterChange, 422,
        "An object has the same member twice, so two readers could see two documents; keep one of \
         them.";
    CanonLoneSurrogate = "CANON_LONE_SURROGATE", Accord, Validation, AfterChange, 422,
        "A string has half of a surrogate pair, which is not a character; complete or remove the \
         escape.";
    CanonNullForbidden = "CANON_NULL_FORBIDDEN", Accord, Validation, AfterChange, 422,
        "This canonical form does not allow null; leave the member out or give it a value.";
    CanonNonFinite = "CANON_NON_FINITE", Accord, Validation, AfterChange, 422,
        "A number is too large for a double; write it smaller, or as a string.";
    CanonInexactInteger = "CANON_INEXACT_INTEGER", Accord, Validation, AfterChange, 422,
        "An integer would become another number in canonical form; write it as a string, or ask \
         for rounding.";
    CanonTooDeep = "CANON_TOO_DEEP", Accord, Validation, AfterChange, 422,
        "Lists and objects are nested past the limit; make the document flatter.";

    WireFieldMissing = "WIRE_FIELD_MISSING", Accord, Validation, AfterChange, 422,
        "A required member is missing; add it at the named place.";
    WireFieldType = "WIRE_FIELD_TYPE", Accord, Validation, AfterChange, 422,
        "A member has the wrong JSON type; change it at the named place.";
    WireFieldValue = "WIRE_FIELD_VALUE", Accord, Validation, AfterChange, 422,
        "A member has a value that its message does not allow; use one of the values that the \
         error names.";
    WireFieldUnknown = "WIRE_FIELD_UNKNOWN", Accord, Validation, AfterChange, 422,
        "A closed message has an unknown member; remove it or correct its name.";

    SnapshotInvalid = "SNAPSHOT_INVALID", Accord, Validation, AfterChange, 422,
        "A document is not a contract snapshot; correct it at the named place.";
    CompatRuleInvalid = "COMPAT_RULE_INVALID", Accord, Validation, AfterChange, 422,
        "A rule setting names an unknown rule, a rule that the policy fixes, or an unknown class; \
         use one of the named rules and classes.";

    KitCaseInvalid = "KIT_CASE_INVALID", Accord, Validation, AfterChange, 422,
        "A case file is not valid JSON, has an unknown member, or contradicts itself; correct the \
         file at the named place.";
    KitCorpusUnreadable = "KIT_CORPUS_UNREADABLE", Accord, Validation, AfterChange, 422,
        "A folder or file of the corpus cannot be read; check the path and its permissions.";
    KitProtocolUnknown = "KIT_PROTOCOL_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "There is no corpus for this protocol; choose one that the message lists.";
    KitCaseUnknown = "KIT_CASE_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "No case has that id; list the cases to find the right one.";
    KitFilterInvalid = "KIT_FILTER_INVALID", Accord, Validation, AfterChange, 400,
        "The filter expression cannot be read; correct it at the named column.";
    KitBaselineInvalid = "KIT_BASELINE_INVALID", Accord, Validation, AfterChange, 422,
        "The baseline of known failures is not valid; correct the file at the named place.";
    KitBaselineStale = "KIT_BASELINE_STALE", Accord, Validation, AfterChange, 409,
        "The baseline lists a case as a known failure that now passes, or whose entry has expired; \
         remove the entry.";
    KitAdapterNotFound = "KIT_ADAPTER_NOT_FOUND", Accord, NotFound, AfterChange, 404,
        "The adapter's program does not exist or cannot be executed; check the command.";
    KitAdapterProtocol = "KIT_ADAPTER_PROTOCOL", Accord, Execution, AfterChange, 502,
        "The adapter broke the fixture protocol by wrong output, a wrong exit code or an early \
         end; correct the adapter.";
    KitAdapterTimeout = "KIT_ADAPTER_TIMEOUT", Accord, Execution, Backoff, 504,
        "The adapter did not answer within the time limit of the case and was killed with its \
         process group; raise the limit or make the adapter faster.";
    KitServerUnreachable = "KIT_SERVER_UNREACHABLE", Accord, Execution, Backoff, 502,
        "The tested server cannot be reached or went away during a case; check its URL and that it \
         runs.";
    KitServerRefused = "KIT_SERVER_REFUSED", Accord, Auth, AfterCredentials, 403,
        "The tested server refuses the run, because its key is missing or has too few scopes; give \
         another key with --token, or name a project to read with --project.";
    KitServerTimeout = "KIT_SERVER_TIMEOUT", Accord, Execution, Backoff, 504,
        "The tested server did not answer completely within the time limit of a request or a case; \
         raise the limit or make the server faster.";
    KitServerProtocol = "KIT_SERVER_PROTOCOL", Accord, Execution, AfterChange, 502,
        "The tested server answered with something that is not HTTP, is larger than the limit, or \
         does not follow the fixture protocol; correct the server.";
    KitHarness = "KIT_HARNESS", Accord, Execution, Backoff, 500,
        "The kit itself could not run a case, for example because it could not create a temporary \
         folder; read the message and try again.";
    KitNoCaseRan = "KIT_NO_CASE_RAN", Accord, Validation, AfterChange, 422,
        "No case is left to run; widen the filter or the level.";
    KitExportFailed = "KIT_EXPORT_FAILED", Accord, Execution, AfterChange, 500,
        "The corpus could not be written to the folder; choose an empty, writable folder.";
    KitCapabilitiesUnreadable = "KIT_CAPABILITIES_UNREADABLE", Accord, NotFound, AfterChange, 404,
        "The capabilities of the tested implementation cannot be read from its folder or its \
         server; check the folder, the URL and the token.";
    KitCapabilitiesInvalid = "KIT_CAPABILITIES_INVALID", Accord, Validation, AfterChange, 422,
        "The capabilities of the tested implementation do not follow the fixture protocol; correct \
         them at the named place.";
    KitSurfaceUnclaimed = "KIT_SURFACE_UNCLAIMED", Accord, Validation, AfterChange, 422,
        "The tested implementation does not claim this surface; choose one that it claims, or name \
         none.";

    StoreFull = "STORE_FULL", Accord, Execution, AfterChange, 507,
        "The store has no space left and kept nothing of the request; free space on its disk or \
         raise its limit, then retry.";
    StoreReadOnly = "STORE_READ_ONLY", Accord, Execution, AfterChange, 503,
        "The store can be read but not written; check the permissions of its folder and whether \
         its disk is mounted read-only.";
    StoreCorrupt = "STORE_CORRUPT", Accord, Execution, Never, 500,
        "The store is damaged; stop the server, keep a copy of the folder, and restore a backup.";
    StoreBusy = "STORE_BUSY", Accord, Execution, Backoff, 503,
        "Too many requests wait for the store, and this one was not carried out; wait and retry.";
    StoreLocked = "STORE_LOCKED", Accord, Execution, AfterChange, 409,
        "Another process has the store open; use that process, or stop it first.";
    StoreUnavailable = "STORE_UNAVAILABLE", Accord, Execution, Backoff, 503,
        "The store cannot be reached or is closing, and the request may or may not have been \
         carried out; retry later.";
    StoreTooNew = "STORE_TOO_NEW", Accord, Execution, AfterChange, 500,
        "A later version of Accord wrote the store in a format that this one does not know; use \
         that version.";
    StoreMissing = "STORE_MISSING", Accord, NotFound, AfterChange, 404,
        "There is no store at this path, or the file is not a store; check the path.";
    StoreFolderUnusable = "STORE_FOLDER_UNUSABLE", Accord, Execution, AfterChange, 500,
        "The data folder cannot be created; choose another path, or check the parent folder and \
         its permissions.";
    StoreFolderUntrusted = "STORE_FOLDER_UNTRUSTED", Accord, Validation, AfterChange, 403,
        "The data folder that was found belongs to another user, or names a server while others \
         can enter it; name the folder if you trust it, or make it private.";
    StoreOccupied = "STORE_OCCUPIED", Accord, Validation, AfterChange, 409,
        "The path already has a store or a file; choose another path, or allow it to be replaced.";
    StoreConflict = "STORE_CONFLICT", Accord, Execution, Backoff, 409,
        "Another request changed the same data in the meantime; read it again and repeat the \
         request.";
    StoreBroken = "STORE_BROKEN", Accord, Execution, Never, 500,
        "A bug in the server interrupted the work on the store, and nothing of it was kept; report \
         it with the server's log.";

    HttpRouteUnknown = "HTTP_ROUTE_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "The server has no route with this path; see /openapi.json for its routes.";
    HttpMethodNotAllowed = "HTTP_METHOD_NOT_ALLOWED", Accord, Validation, AfterChange, 405,
        "The route does not support this method; use one of those in the Allow header.";
    HttpMalformed = "HTTP_MALFORMED", Accord, Validation, AfterChange, 400,
        "The request is not valid HTTP; correct its path, headers or query.";
    HttpNotAcceptable = "HTTP_NOT_ACCEPTABLE", Accord, Validation, AfterChange, 406,
        "The route cannot answer in a media type that the client accepts; send the header Accept \
         that the message names.";
    HttpMediaType = "HTTP_MEDIA_TYPE", Accord, Validation, AfterChange, 415,
        "The route does not accept a body of this media type; send the one that the message names.";
    HttpRangeNotSatisfiable = "HTTP_RANGE_NOT_SATISFIABLE", Accord, Validation, AfterChange, 416,
        "The blob does not have the bytes that the header Range asks for; the header Content-Range \
         of the answer has its size.";
    HttpHeadersTooLarge = "HTTP_HEADERS_TOO_LARGE", Accord, Validation, AfterChange, 431,
        "The path and headers of the request are larger than the limit; send fewer or shorter \
         ones.";
    HttpHeaderTimeout = "HTTP_HEADER_TIMEOUT", Accord, Execution, Backoff, 408,
        "The headers of the request arrived too slowly; retry over a better connection.";
    HttpBodyTimeout = "HTTP_BODY_TIMEOUT", Accord, Execution, Backoff, 408,
        "The body of the request arrived too slowly, and nothing was done; retry over a better \
         connection.";
    HttpBodyBroken = "HTTP_BODY_BROKEN", Accord, Validation, AfterChange, 400,
        "The body of the request ended too early, and nothing was done; send all of it.";
    HttpTooManyConnections = "HTTP_TOO_MANY_CONNECTIONS", Accord, Execution, Backoff, 503,
        "The server has reached its limit of connections; wait and retry, or raise \
         limits.connections.";
    HttpTooManyStreams = "HTTP_TOO_MANY_STREAMS", Accord, Execution, Backoff, 503,
        "The server has reached its limit of event streams; close one, wait, or raise \
         limits.event_streams.";
    HttpHostRefused = "HTTP_HOST_REFUSED", Accord, Auth, AfterChange, 403,
        "The Host header is not one of this server's names; use its address, or list the name in \
         allowed_hosts.";
    HttpOriginRefused = "HTTP_ORIGIN_REFUSED", Accord, Auth, AfterChange, 403,
        "A page of another site sent the request; list that site in allowed_origins to allow it.";
    HttpFault = "HTTP_FAULT", Accord, Execution, Never, 500,
        "The server failed because of a bug; report it with the correlation id and the server's \
         log.";
    HostClosing = "HOST_CLOSING", Accord, Execution, Backoff, 503,
        "The server is shutting down and accepts no more requests; retry when it is back.";
    HostOwnerOnly = "HOST_OWNER_ONLY", Accord, Auth, AfterCredentials, 403,
        "Only the owner of the data folder may do this; use the accord command on the server's \
         data folder.";
    KeyNotFound = "KEY_NOT_FOUND", Accord, NotFound, AfterChange, 404,
        "There is no key with this id; list the keys to find the right one.";

    SettingUnknown = "SETTING_UNKNOWN", Accord, Validation, AfterChange, 400,
        "A setting has an unknown name; correct it. accord config show lists all settings.";
    SettingInvalid = "SETTING_INVALID", Accord, Validation, AfterChange, 400,
        "A setting has a value that is not allowed; correct it at the named place.";
    ServeKeysNeeded = "SERVE_KEYS_NEEDED", Accord, Validation, AfterChange, 400,
        "A server that others can reach needs keys; create one with accord key create, or listen \
         on 127.0.0.1.";
    ServeTlsNeeded = "SERVE_TLS_NEEDED", Accord, Validation, AfterChange, 400,
        "A server that others can reach needs TLS; give --tls-cert and --tls-key, or \
         --behind-proxy if a proxy terminates TLS.";
    ServeTlsInvalid = "SERVE_TLS_INVALID", Accord, Validation, AfterChange, 400,
        "The certificate or its private key cannot be used; give PEM files that belong together.";
    ServeListenFailed = "SERVE_LISTEN_FAILED", Accord, Execution, AfterChange, 500,
        "The server cannot listen on this address; choose a free one of this machine. Port 0 takes \
         any free port.";
    ServeSocketFailed = "SERVE_SOCKET_FAILED", Accord, Execution, AfterChange, 500,
        "The socket in the data folder cannot be created; choose a folder with a shorter path, on \
         a file system with sockets.";

    HostUnreachable = "HOST_UNREACHABLE", Accord, Execution, Backoff, 502,
        "No host answers at this address, or the connection broke; check the URL, the network and \
         that the host runs, then check whether the request was carried out.";
    HostTimeout = "HOST_TIMEOUT", Accord, Execution, Backoff, 504,
        "The host did not answer in time, and the request may or may not have been carried out; \
         check, and retry.";
    HostTls = "HOST_TLS", Accord, Execution, AfterChange, 502,
        "The TLS connection to the host failed; check its certificate and the certificates that \
         this system trusts.";
    HostProtocol = "HOST_PROTOCOL", Accord, Execution, AfterChange, 502,
        "The server at this address is not an Accord host; check the URL.";

    McpToolTwice = "MCP_TOOL_TWICE", Accord, Validation, AfterChange, 500,
        "Two tools have the same name; rename one of them, or offer only one of the two tool sets.";
    McpToolUnknown = "MCP_TOOL_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "There is no tool or tool set with this name; choose one that the message lists.";
    McpPromptUnknown = "MCP_PROMPT_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "There is no prompt with this name; choose one that the message lists.";
    McpResourceUnknown = "MCP_RESOURCE_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "The URI names no resource; use one of the form that the message names.";
    McpArgumentMissing = "MCP_ARGUMENT_MISSING", Accord, Validation, AfterChange, 400,
        "A tool was called without a required argument; call it again with the named argument.";
    McpArgumentInvalid = "MCP_ARGUMENT_INVALID", Accord, Validation, AfterChange, 400,
        "An argument of a tool does not match its schema; call the tool again with the form that \
         the message names.";
    McpArgumentUnknown = "MCP_ARGUMENT_UNKNOWN", Accord, Validation, AfterChange, 400,
        "A tool was called with an unknown argument; leave it out or correct its name.";
    McpBudgetTooSmall = "MCP_BUDGET_TOO_SMALL", Accord, Validation, AfterChange, 400,
        "Even the smallest answer does not fit into max_tokens; ask with at least the number of \
         tokens that the message names.";
    McpSessionUnknown = "MCP_SESSION_UNKNOWN", Accord, NotFound, AfterChange, 404,
        "The MCP session does not exist, has ended, or belongs to another key; initialize a new \
         one.";
    McpSessionNeeded = "MCP_SESSION_NEEDED", Accord, Validation, AfterChange, 400,
        "A client without an MCP session wrote without saying who it is; pass actor, or the \
         session_id that memory_session_start returned, or use a key with an actor.";
    McpDuplicateId = "MCP_DUPLICATE_ID", Accord, Validation, AfterChange, 409,
        "Another request of the same MCP session with this id has no answer yet; use a new id for \
         every request.";
    McpTooManySessions = "MCP_TOO_MANY_SESSIONS", Accord, Execution, Backoff, 503,
        "The server has reached its limit of MCP sessions; end one, or wait until an idle one \
         expires.";
    McpRequestInvalid = "MCP_REQUEST_INVALID", Accord, Validation, AfterChange, 400,
        "The request is not valid for MCP over streamable HTTP; correct its headers or its body as \
         the message says.";

    AuthRequired = "AUTH_REQUIRED", Alx, Auth, AfterCredentials, 401,
        "The request carries no credentials; authenticate and send it again.";
    Unauthorized = "UNAUTHORIZED", Alx, Auth, AfterCredentials, 401,
        "The credentials are not valid for this request; renew them and send it again.";
    LowConfidence = "LOW_CONFIDENCE", Alx, Approval, AfterChange, 409,
        "No answer reached the required confidence; refine the intent, look at the alternatives, \
         or force the run.";
    NoArtifactSelected = "NO_ARTIFACT_SELECTED", Alx, Approval, AfterChange, 409,
        "No artifact fits the intent; widen the intent or name an artifact.";
    RateLimited = "RATE_LIMITED", Alx, Execution, Backoff, 429,
        "Too many requests arrived in a short time, and this one was not carried out; wait and \
         retry.";
    NonceReused = "NONCE_REUSED", Alx, Auth, AfterChange, 409,
        "A signed request has a nonce that its signer has used before; sign it again with a new \
         one.";
    MalformedRequest = "MALFORMED_REQUEST", Alx, Validation, AfterChange, 400,
        "A signed request lacks a part or has one of the wrong form; build it as the request \
         format requires.";

    EventTypeNotEmittable = "EVENT_TYPE_NOT_EMITTABLE", Alx, Validation, AfterChange, 422,
        "The type of an event is not in the closed list of its stream; emit one that is.";
    EventOutcomeContradiction = "EVENT_OUTCOME_CONTRADICTION", Alx, Validation, AfterChange, 422,
        "The type and the ok member of an event contradict each other; run.completed carries ok \
         true and run.failed carries ok false.";

    InvalidEnvelope = "INVALID_ENVELOPE", Alx, Validation, AfterChange, 422,
        "A Knowledge Block envelope lacks a member or has one of the wrong form; correct it at the \
         named place.";
    SourcesNotSorted = "SOURCES_NOT_SORTED", Alx, Validation, AfterChange, 422,
        "The sources of a Knowledge Block are not in ascending order; sort them.";
    SchemaInvalid = "SCHEMA_INVALID", Alx, Validation, AfterChange, 422,
        "The payload does not match the schema of its type, or the type is unknown; correct it at \
         the named place.";
    SelfReference = "SELF_REFERENCE", Alx, Validation, AfterChange, 422,
        "A Knowledge Block names itself as a source; remove that source.";
    UnregisteredSource = "UNREGISTERED_SOURCE", Alx, Validation, AfterChange, 422,
        "A source of a Knowledge Block is not registered; register it first.";
    CycleDetected = "CYCLE_DETECTED", Alx, Validation, AfterChange, 422,
        "The sources of a Knowledge Block form a cycle; remove the source that closes it.";
    KbDuplicateSource = "KB_DUPLICATE_SOURCE", Alx, Validation, AfterChange, 422,
        "A source is listed twice, and implementations disagree about the hash; list it once, or \
         choose how duplicates are read.";
    KbHashMismatch = "KB_HASH_MISMATCH", Alx, Validation, AfterChange, 422,
        "The kbHash of an envelope is not the hash of its content; use the computed one, or find \
         out who changed the content.";
    KbArtifactMismatch = "KB_ARTIFACT_MISMATCH", Alx, Validation, AfterChange, 422,
        "The artifactHash of an envelope is not the hash of its payload; use the computed one, or \
         find out who changed the payload.";

    AgenticInvalidSchema = "invalid_schema", Agentic, Validation, AfterChange, 400,
        "A document or parameter lacks a member, or has one of the wrong form; correct it at the \
         named place.";
    AgenticHashMismatch = "hash_mismatch", Agentic, Validation, AfterChange, 400,
        "The content_hash of a package is not the hash of its content; leave it out, or find out \
         what changed the package on the way.";
    AgenticBlobDigestMismatch = "blob_digest_mismatch", Agentic, Validation, AfterChange, 400,
        "The content does not have the digest in its path, and was not kept; send all of it again, \
         under its own digest.";
    AgenticPayloadTooLarge = "payload_too_large", Agentic, Validation, AfterChange, 413,
        "The body is larger than the limit; split it, or store large deliverables as blobs.";
    AgenticTooManyItems = "too_many_items", Agentic, Validation, AfterChange, 400,
        "A list has more items than the limit; shorten it, or spread it over several packages.";
    AgenticTextTooLong = "text_too_long", Agentic, Validation, AfterChange, 400,
        "A text or id is longer than the limit; shorten it, or store it as a deliverable.";
    AgenticTooDeep = "too_deep", Agentic, Validation, AfterChange, 400,
        "Lists and objects are nested past the limit; make the document flatter.";
    AgenticInvalidTransition = "invalid_transition", Agentic, Validation, AfterChange, 400,
        "A package cannot change from its status to the requested one; look at its status. To \
         correct a complete package, deposit a new one that names it as parent.";
    AgenticInvalidCursor = "invalid_cursor", Agentic, Validation, AfterChange, 400,
        "The cursor was not issued by this listing; start again without one.";
    AgenticEventCursorTooOld = "event_cursor_too_old", Agentic, NotFound, AfterChange, 410,
        "The events after this cursor are no longer kept; read the state again, then follow from \
         the named oldest event or from now on.";
    AgenticDuplicatePackageId = "duplicate_package_id", Agentic, Validation, AfterChange, 409,
        "The project already has a package with this id and other content; deposit it under a new \
         id, and name the old one as parent if it corrects it.";
    AgenticAmbiguousPackageId = "ambiguous_package_id", Agentic, Validation, AfterChange, 409,
        "Several projects have a package with this id; name the project.";
    AgenticAmbiguousFactId = "ambiguous_fact_id", Agentic, Validation, AfterChange, 409,
        "Several projects have a fact with this id; name the project.";
    AgenticAmbiguousSessionId = "ambiguous_session_id", Agentic, Validation, AfterChange, 409,
        "Several projects have a session with this id; name the project.";
    AgenticDuplicateProjectId = "duplicate_project_id", Agentic, Validation, AfterChange, 409,
        "There is already another project with this id; choose another id, or change the existing \
         project.";
    AgenticProjectNotEmpty = "project_not_empty", Agentic, Validation, AfterChange, 409,
        "The project holds packages, facts, sessions or blobs, and was not created for a \
         conformance run, so it cannot be removed; archive it instead.";
    AgenticDuplicateFactId = "duplicate_fact_id", Agentic, Validation, AfterChange, 409,
        "The project already has another fact with this id; leave the id out to get a new one.";
    AgenticDuplicateSessionId = "duplicate_session_id", Agentic, Validation, AfterChange, 409,
        "The project already has another session with this id; import it into an empty project.";
    AgenticFactOutOfOrder = "fact_out_of_order", Agentic, Validation, AfterChange, 409,
        "The fact begins before one that is already known, and the request does not allow that; \
         give a later valid_from, or allow backfilling.";
    AgenticFactOverlap = "fact_overlap", Agentic, Validation, AfterChange, 409,
        "The valid time of an imported fact overlaps that of another fact with the same subject \
         and predicate; correct its times, or import into an empty project.";
    AgenticPackageNotFound = "package_not_found", Agentic, NotFound, AfterChange, 404,
        "There is no package with this id, or this key cannot read it; check the id and the \
         project.";
    AgenticProjectNotFound = "project_not_found", Agentic, NotFound, AfterChange, 404,
        "There is no project with this id, or this key cannot read it; check the id, or create the \
         project.";
    AgenticFactNotFound = "fact_not_found", Agentic, NotFound, AfterChange, 404,
        "There is no fact with this id, or this key cannot read it; check the id and the project.";
    AgenticSessionNotFound = "session_not_found", Agentic, NotFound, AfterChange, 404,
        "There is no session with this id, or this key cannot read it; check the id and the \
         project.";
    AgenticBlobNotFound = "blob_not_found", Agentic, NotFound, AfterChange, 404,
        "There is no blob with this digest, or this key cannot read it; check the digest and the \
         project, or store it.";
    AgenticProjectArchived = "project_archived", Agentic, Validation, AfterChange, 403,
        "The project is archived and accepts no writes; restore it first.";
    AgenticUnauthorized = "unauthorized", Agentic, Auth, AfterCredentials, 403,
        "The key is unknown, or does not cover this project, verb or actor; use a key that does.";
    AgenticSearchNotSupported = "search_not_supported", Agentic, Execution, Never, 501,
        "This server does not support search; pull the latest packages instead, or use a server \
         that has the named capability.";
    AgenticSearchUnavailable = "search_unavailable", Agentic, Execution, Backoff, 503,
        "Search by meaning does not work at the moment, because the embeddings server cannot be \
         used; search by words, or try again later.";
    AgenticNotImplemented = "not_implemented", Agentic, Execution, Never, 501,
        "This server does not have the named capability; see /v1/conformance for those that it \
         has.";
    AgenticIntegrityError = "integrity_error", Agentic, Execution, Never, 500,
        "The stored content under this id was changed after it was written and is not served; run \
         accord context verify, then accord store repair, and restore the rest from a backup.";
    AgenticBlobDamaged = "blob_damaged", Agentic, Execution, Never, 500,
        "The content of a stored blob no longer matches its digest and is not served; store it \
         again, or restore it from a backup.";

    XchainInvalidConfig = "invalid_config", Xchain, Validation, AfterChange, 422,
        "The governed configuration is not valid; correct agentxchain.json at the named places.";
    XchainSchemaVersionInvalid = "schema_version_invalid", Xchain, Validation, AfterChange, 422,
        "A governed document has an unknown schema version; write the named one.";
    XchainUndeclaredRuntimeReference = "undeclared_runtime_reference",
        Xchain, Validation, AfterChange, 422,
        "A role names a runtime that the configuration does not declare; declare it or name \
         another.";
    XchainUndeclaredRoleReference = "undeclared_role_reference",
        Xchain, Validation, AfterChange, 422,
        "The routing names a role that the configuration does not declare; declare it or name \
         another.";
    XchainUndeclaredGateReference = "undeclared_gate_reference",
        Xchain, Validation, AfterChange, 422,
        "The routing names a gate that the configuration does not declare; declare it or name \
         another.";
    XchainStateInvalid = "state_invalid", Xchain, Execution, Never, 500,
        "The run's state document is damaged at the named place; restore it from version control \
         or a backup.";
    XchainRecordInvalid = "record_invalid", Xchain, Execution, Never, 500,
        "A line of a governed record is damaged; find it with doctor and restore it from version \
         control or a backup.";
    XchainInvalidStateTransition = "invalid_state_transition", Xchain, Validation, AfterChange, 409,
        "The run's current status does not allow this; look at its status.";
    XchainRecordsMissing = "records_missing", Xchain, Execution, AfterChange, 409,
        "The last run of the repository is not the one of state.json, as after a git stash, \
         checkout or reset of everything; restore its records (git stash pop), or abandon that run \
         with accord run start --restart.";
    XchainImmutableField = "immutable_field", Xchain, Validation, Never, 409,
        "A member that is fixed once the run has started would change; start a new run instead.";
    XchainUnknownRole = "unknown_role", Xchain, NotFound, AfterChange, 404,
        "The configuration has no such role; name one that it declares.";
    XchainUnknownPhase = "unknown_phase", Xchain, NotFound, AfterChange, 404,
        "The routing has no such phase; name one that it has.";
    XchainRoleWithoutRuntime = "role_without_runtime", Xchain, Validation, AfterChange, 422,
        "The role has no runtime for its turns; declare one.";
    XchainRuntimeNotSupported = "runtime_not_supported", Xchain, Execution, AfterChange, 501,
        "The role's runtime is of a type that Accord cannot run; give the role another runtime.";
    XchainTurnCapacityReached = "turn_capacity_reached", Xchain, Validation, AfterChange, 409,
        "The phase has reached its limit of active turns; wait for the named turns, or accept or \
         reject one of them first.";
    XchainRoleAlreadyActive = "role_already_active", Xchain, Validation, AfterChange, 409,
        "The role already has an active turn; accept or reject that first.";
    XchainBudgetExhausted = "budget_exhausted", Xchain, Validation, AfterChange, 409,
        "The run's budget does not cover another turn; raise budget.per_run_max_usd in \
         agentxchain.json, and resolve the run if it is blocked.";
    XchainBaselineDirty = "baseline_dirty", Xchain, Validation, AfterChange, 409,
        "The working tree has changes that belong to no turn; commit the named files, or stash \
         only them with git stash push -u -- FILE. A stash of everything removes the run's own \
         records.";
    XchainCheckpointRequired = "checkpoint_required", Xchain, Validation, AfterChange, 409,
        "An accepted turn's changes are not committed yet; make its checkpoint first.";
    XchainTargetRequired = "target_required", Xchain, Validation, AfterChange, 409,
        "Several turns are active; name one.";
    XchainFilesRequired = "files_required", Xchain, Validation, AfterChange, 409,
        "Several turns are active, so the changed files can belong to any of them; name the files \
         of this turn.";
    XchainTurnNotActive = "turn_not_active", Xchain, NotFound, AfterChange, 404,
        "The run has no active turn with this id; look at the run's status.";
    XchainTurnAlreadyAccepted = "turn_already_accepted", Xchain, Validation, Never, 409,
        "The turn is already in the history, and nothing was done; continue with the next turn, or \
         reissue a turn that is still active.";
    XchainStaleStaging = "stale_staging", Xchain, Validation, AfterChange, 409,
        "The staged result belongs to another turn; stage the result of this one.";
    XchainLockTimeout = "lock_timeout", Xchain, Execution, Backoff, 409,
        "Another process holds the lock of the repository; wait for it, or end the named process.";
    XchainLockLost = "lock_lost", Xchain, Execution, Backoff, 409,
        "Another process took over or removed the repository's lock while this one worked, and \
         nothing more was written; look at the status, then retry.";
    XchainCommitUnfinished = "commit_unfinished", Xchain, Execution, AfterChange, 500,
        "The change is committed in its journal, but a file could not be written; repair what is \
         named, and the next command finishes the change first.";
    XchainNotGoverned = "not_governed", Xchain, NotFound, AfterChange, 404,
        "The folder is not a governed repository, because it has no agentxchain.json; go to the \
         root of one, or create one with accord run init.";
    XchainAlreadyGoverned = "already_governed", Xchain, Validation, AfterChange, 409,
        "The folder is already a governed repository, and nothing was written; continue with \
         accord run status, or choose another folder.";
    XchainGitFailed = "git_failed", Xchain, Execution, AfterChange, 500,
        "Git failed; follow its own message, then retry.";
    XchainVersionControlChanged = "version_control_changed", Xchain, Validation, AfterChange, 409,
        "Git's settings changed after the turn was assigned, so the changes of the turn cannot be \
         determined; restore what is named and accept the turn again. To keep changes of your own, \
         escalate and resolve the run; to take the turn back, reissue it.";
    XchainNothingToCheckpoint = "nothing_to_checkpoint", Xchain, Validation, AfterChange, 409,
        "No accepted turn has uncommitted changes; continue with the next turn.";
    XchainRuntimeUnavailable = "runtime_unavailable", Xchain, Execution, AfterChange, 409,
        "The program of a runtime is not on this machine or cannot be started; install it, or \
         correct the runtime in agentxchain.json.";
    XchainGivenUp = "given_up", Xchain, Execution, AfterChange, 503,
        "The command was cancelled, and changed nothing but the audit log of hooks that had run; \
         run it again.";
    XchainWorkerNotStarted = "worker_not_started", Xchain, Execution, Backoff, 502,
        "The worker of a turn could not be started, or gave no sign of life in time; read its \
         output, correct it, or give it more time with accord run step --silence TIME.";
    XchainWorkerStalled = "worker_stalled", Xchain, Execution, Backoff, 504,
        "The worker of a turn gave no more sign of life and was ended; give it more time with \
         accord run step --silence TIME, or read its output and reject the turn.";
    XchainWorkerTimedOut = "worker_timed_out", Xchain, Execution, Backoff, 504,
        "The worker of a turn was not done at the turn's deadline and was ended; give it more time \
         or less work, then dispatch the turn again.";
    XchainWorkerWithoutResult = "worker_without_result", Xchain, Execution, AfterChange, 502,
        "The worker of a turn ended without staging a result; read its output, correct its command \
         or its prompt, and dispatch the turn again.";
    XchainWorkerFailed = "worker_failed", Xchain, Execution, Backoff, 502,
        "The worker of a turn answered with an error, or with something that is not a result; \
         follow its message, and dispatch the turn again.";
    XchainWorkerCancelled = "worker_cancelled", Xchain, Execution, AfterChange, 503,
        "The work on a turn was cancelled; the turn is still active: dispatch it again, or reject \
         it.";
    XchainWorkerBusy = "worker_busy", Xchain, Execution, Backoff, 409,
        "A worker is active on the turn, as the named process; wait for it, or end it first.";
    XchainAttemptOver = "attempt_over", Xchain, Execution, AfterChange, 409,
        "The turn was rejected while a worker was still at an earlier attempt, whose result was \
         ignored; look at the status, and continue with the next attempt.";
    XchainConfigChanged = "config_changed", Xchain, Validation, AfterChange, 409,
        "agentxchain.json changed while a worker ran, and the configuration from before its start \
         judges the turn; see the change with accord run adopt, and put it in force with accord \
         run adopt --yes if it is a person's.";
    XchainRecordsChanged = "records_changed", Xchain, Approval, AfterChange, 409,
        "State, history, ledger or events of the run changed while a worker ran, in a way that a \
         person must confirm; see the change with accord run adopt, and put it in force with \
         accord run adopt --yes, or go on without it.";
    XchainRunLost = "run_lost", Xchain, Execution, AfterChange, 409,
        "The folder .agentxchain of the run was removed while a worker ran; look at the status, \
         and where the run was not put back, do that with accord run adopt --undo --yes.";
    XchainStateFolderUnusable = "state_folder_unusable", Xchain, Execution, AfterChange, 409,
        "The folder for the copies that judge a turn cannot be used; let XDG_STATE_HOME name a \
         folder of your own outside the repository.";
    XchainFileSystemFailed = "file_system_failed", Xchain, Execution, AfterChange, 500,
        "The operating system refused to read or write a file of the repository; free space or \
         correct its permissions, then retry.";
    XchainFileTooLarge = "file_too_large", Xchain, Validation, AfterChange, 413,
        "A file of the repository is larger than the limit; make it smaller.";
    XchainNotAFile = "not_a_file", Xchain, Validation, AfterChange, 422,
        "A folder, a pipe or a device is at the path of a file; remove it.";
    XchainPathObstructed = "path_obstructed", Xchain, Validation, AfterChange, 409,
        "Something else is at the path of a file or of one of its folders, and nothing was \
         written; remove or move what is named, then retry.";
    XchainAcceptanceOutOfStep = "acceptance_out_of_step", Xchain, Execution, Never, 500,
        "The acceptance of a turn got an answer that it had not asked for, which is a bug; report \
         it, and accept the turn again.";
    XchainValidationFailed = "validation_failed", Xchain, Validation, AfterChange, 422,
        "The staged result is not valid; correct what the named stage found and stage it again.";
    XchainMissingRequiredField = "missing_required_field", Xchain, Validation, AfterChange, 422,
        "A staged result lacks a required member; add it.";
    XchainSchemaError = "schema_error", Xchain, Validation, AfterChange, 422,
        "A staged result is not JSON or has a member of the wrong form; correct it at the named \
         place.";
    XchainInvalidDecisionIdFormat = "invalid_decision_id_format",
        Xchain, Validation, AfterChange, 422,
        "The id of a decision does not have the form DEC-001; correct it.";
    XchainRunIdMismatch = "run_id_mismatch", Xchain, Validation, AfterChange, 422,
        "A staged result belongs to another run; stage the result of this run.";
    XchainTurnIdMismatch = "turn_id_mismatch", Xchain, Validation, AfterChange, 422,
        "A staged result belongs to another turn; stage the result of the assigned one.";
    XchainAssignmentError = "assignment_error", Xchain, Validation, AfterChange, 422,
        "A staged result does not match the assignment; correct its role or runtime.";
    XchainArtifactError = "artifact_error", Xchain, Validation, AfterChange, 422,
        "The changes of a staged result do not fit its role; correct the artifact or the files \
         that it declares.";
    XchainReservedPathViolation = "reserved_path_violation", Xchain, Validation, AfterChange, 422,
        "A staged result claims a file that belongs to the run itself; leave that file alone.";
    XchainPathOutsideRepository = "path_outside_repository", Xchain, Validation, AfterChange, 422,
        "A path leads out of the repository or is not valid; name files inside it, relative to its \
         root.";
    XchainVerificationError = "verification_error", Xchain, Validation, AfterChange, 422,
        "A staged result contradicts its own evidence; correct the verification that it declares.";
    XchainProtocolError = "protocol_error", Xchain, Validation, AfterChange, 422,
        "A staged result asks for something that the run's rules do not allow; correct what is \
         named.";
    XchainChallengeRequirementViolated = "challenge_requirement_violated",
        Xchain, Validation, AfterChange, 422,
        "A role that only reviews raised no objection; raise at least one.";
    XchainMutuallyExclusiveRequests = "mutually_exclusive_requests",
        Xchain, Validation, AfterChange, 422,
        "A staged result asks for a phase transition and for the end of the run; ask for one of \
         them.";
    XchainEmptyRequiredField = "empty_required_field", Xchain, Validation, AfterChange, 422,
        "A member that must not be blank is blank; fill it in.";
    XchainInvalidEnumValue = "invalid_enum_value", Xchain, Validation, AfterChange, 422,
        "A member has a value that is not allowed; choose one of the named values.";
    XchainDuplicateDecisionId = "duplicate_decision_id", Xchain, Validation, AfterChange, 409,
        "The run already has a decision with this id; use the next free one.";
    XchainOverrideValidationFailed = "override_validation_failed",
        Xchain, Validation, AfterChange, 409,
        "A decision overrides one that does not exist, is no longer active, or belongs to a higher \
         authority; name another or ask that role.";
    XchainArtifactMismatch = "artifact_mismatch", Xchain, Validation, AfterChange, 409,
        "The changed files are not those that the result declares; declare them all, or undo the \
         others.";
    XchainArtifactDirtyTreeMismatch = "artifact_dirty_tree_mismatch",
        Xchain, Validation, AfterChange, 409,
        "The working tree has changes that the result does not declare; name each file in \
         files_changed, or in verification.produced_files if a check wrote it, or undo the change.";
    XchainUndeclaredVerificationOutputs = "undeclared_verification_outputs",
        Xchain, Validation, AfterChange, 409,
        "The declared checks were run again and wrote files that the result does not name; name \
         each in verification.produced_files as artifact or ignore.";
    XchainEmptyWorkspaceArtifact = "empty_workspace_artifact", Xchain, Validation, AfterChange, 422,
        "A result claims work in the workspace and nothing changed there; declare a review \
         instead.";
    XchainGateSemanticCoverage = "gate_semantic_coverage", Xchain, Validation, AfterChange, 409,
        "A result asks to leave the phase while its gate fails on files that the turn did not \
         change; correct those files first.";
    XchainVerificationReplayDrift = "verification_replay_drift",
        Xchain, Validation, AfterChange, 409,
        "The declared evidence could not be reproduced; correct the work or the evidence.";
    XchainPolicyViolation = "policy_violation", Xchain, Validation, AfterChange, 409,
        "A policy of the configuration forbids the result; correct the result or the named policy.";
    XchainPolicyEscalation = "policy_escalation", Xchain, Approval, AfterChange, 409,
        "A policy of the configuration requires a person, and the run is blocked; resolve the run \
         to continue.";
    XchainConflict = "conflict", Xchain, Validation, AfterChange, 409,
        "Another turn changed the same files after this one was assigned; reject and reassign it, \
         or merge by hand.";
    XchainAcceptanceDrift = "acceptance_drift", Xchain, Validation, AfterChange, 409,
        "The working tree changed while the turn was being accepted; wait until nothing changes it \
         and accept the turn again.";
    XchainNotForWorkers = "not_for_workers", Xchain, Approval, AfterChange, 403,
        "The command takes a decision that belongs to a person, and a worker, a hook or a command \
         of a gate started it; a person must run it in a shell that no worker started.";
    XchainConfirmationNeeded = "confirmation_needed", Xchain, Approval, AfterChange, 409,
        "The command takes a decision that belongs to a person, and there is no terminal to ask \
         one; run it in a terminal, or give --yes.";
    XchainEvidenceChanged = "evidence_changed", Xchain, Approval, AfterChange, 409,
        "The facts that a person decides about are not those that the digest of --expect stands \
         for; look at them again, and decide with the new digest.";
    XchainGateActionFailed = "gate_action_failed", Xchain, Execution, AfterChange, 409,
        "A command of the gate failed and the approval was not carried out; correct what it \
         reports and approve again.";
    XchainHookBlocked = "hook_blocked", Xchain, Validation, AfterChange, 409,
        "A hook blocked the operation; see its message in the hook audit log.";
    XchainHookStateTamper = "hook_state_tamper", Xchain, Execution, AfterChange, 409,
        "A hook changed the run's state or one of its logs, which were restored; correct the hook.";
    XchainHookHistoryTamper = "hook_history_tamper", Xchain, Execution, AfterChange, 409,
        "A hook changed the run's history, which was restored; correct the hook.";
    XchainHookLedgerTamper = "hook_ledger_tamper", Xchain, Execution, AfterChange, 409,
        "A hook changed the decision ledger or the decisions of the repository, which were \
         restored; correct the hook.";
    XchainHookBundleTamper = "hook_bundle_tamper", Xchain, Execution, AfterChange, 409,
        "A hook changed a protected file of the turn's bundle, its staged result or the lock, \
         which were restored; correct the hook.";
    XchainInvalidEvent = "invalid_event", Xchain, Validation, AfterChange, 422,
        "An event lacks a member, or its type is not declared; correct it as named.";
    XchainInvalidEvents = "invalid_events", Xchain, Validation, AfterChange, 422,
        "A timeline is not a list or is empty; give at least its first event.";
    XchainOrderingViolation = "ordering_violation", Xchain, Validation, AfterChange, 422,
        "The events of a run are in an impossible order; see the named events.";
    XchainManifestInvalid = "manifest_invalid", Xchain, Validation, AfterChange, 409,
        "A dispatch bundle does not match its manifest; write the bundle again before using it.";
    XchainFinalizationFailed = "finalization_failed", Xchain, Execution, AfterChange, 409,
        "A dispatch bundle has no files to finalise; write the bundle first.";
    XchainInvalidCoordinatorConfig = "invalid_coordinator_config",
        Xchain, Validation, AfterChange, 422,
        "The coordinator's configuration is not valid; correct agentxchain-multi.json at the named \
         places.";
    XchainWorkstreamCycle = "workstream_cycle", Xchain, Validation, AfterChange, 422,
        "Workstreams depend on each other in a cycle; remove one of the dependencies.";
    XchainCoordinatorStateInvalid = "coordinator_state_invalid", Xchain, Execution, Never, 500,
        "A document of the coordinator is damaged at the named place; restore it from a backup.";
    XchainNoInitiative = "no_initiative", Xchain, Execution, AfterChange, 409,
        "This workspace has no initiative; start one.";
    XchainCrossRepoWriteViolation = "cross_repo_write_violation",
        Xchain, Validation, AfterChange, 422,
        "An accepted turn changed a file outside its own repository; undo that and accept the turn \
         again.";
    XchainProjectionFailed = "projection_failed", Xchain, Validation, AfterChange, 422,
        "An acceptance names a repository, workstream or turn that the coordinator does not know; \
         correct what is named.";
    XchainProposalNotFound = "proposal_not_found", Xchain, NotFound, AfterChange, 404,
        "The turn made no proposal; `accord run proposal list --all` lists them.";
    XchainProposalDecided = "proposal_decided", Xchain, Validation, Never, 409,
        "The proposal was applied or dropped before; `accord run proposal list --all` shows which.";
    XchainProposalOutdated = "proposal_outdated", Xchain, Validation, AfterChange, 409,
        "Files changed since the proposal was accepted, or its record does not say how they were; \
         restore the named files, or take the changes over by hand and drop the proposal.";
    XchainProposalChanged = "proposal_changed", Xchain, Validation, AfterChange, 409,
        "The files in the folder of the proposal are not those that were accepted; restore them, \
         or drop the proposal.";
    XchainUnknownRepository = "unknown_repository", Xchain, NotFound, AfterChange, 404,
        "The initiative has no such repository in its phase; name one of those that are listed.";
    XchainNothingToDispatch = "nothing_to_dispatch", Xchain, Validation, AfterChange, 409,
        "No workstream can take a turn now; see the reason for each.";
    XchainCoordinatorGateBlocked = "coordinator_gate_blocked", Xchain, Approval, AfterChange, 409,
        "The coordinator's gate is not open yet; see what blocks it.";
    XchainCoordinatorDiverged = "coordinator_diverged", Xchain, Execution, AfterChange, 409,
        "A repository is not in the state that the coordinator knows; resynchronise, or repair \
         what is named.";

    AofInvalidJson = "invalid_json", Aof, Validation, AfterChange, 400,
        "The text after AOF/1, or the text that begins with a brace, is not JSON; send one JSON \
         object and nothing after it.";
    AofInvalidEnvelope = "invalid_envelope", Aof, Validation, AfterChange, 422,
        "The message is not a valid AOF/1 envelope; correct the member that the error names.";
    AofUnknownType = "unknown_type", Aof, Validation, AfterChange, 422,
        "AOF/1 has no message of this type; send one of the five types.";
    AofTaskNotFound = "task_not_found", Aof, NotFound, AfterChange, 404,
        "The project has no task with this id; list the tasks with accord task list.";
    AofTaskidMismatch = "taskId_mismatch", Aof, Validation, AfterChange, 422,
        "The payload names another task than the envelope; name the same task in both.";
    AofParentNotFound = "parent_not_found", Aof, NotFound, AfterChange, 404,
        "The project has no task with the id of the parent; name the task that you hold.";
    AofNestedDelegation = "nested_delegation", Aof, Validation, Never, 409,
        "A task that was delegated cannot be delegated again; do the work, or reject the handoff.";
    AofAmbiguousTaskId = "ambiguous_task_id", Aof, Validation, AfterChange, 409,
        "Several tasks have ids that begin or end so; write more of the id.";
    AofInvalidTaskTransition = "invalid_task_transition", Aof, Validation, AfterChange, 409,
        "A task with this status cannot get the other one; look at the task with accord task show.";
    AofTaskFinished = "task_finished", Aof, Validation, Never, 409,
        "The task is done or cancelled and is not changed any more; create another task.";
    AofPersonRequired = "person_required", Aof, Approval, AfterChange, 403,
        "The decision belongs to a person; a person must take it, through a key of their own or on \
         the command line.";
    AofDependencyUnmet = "dependency_unmet", Aof, Validation, AfterChange, 409,
        "The task waits for tasks that are not done; finish them, remove the dependency, or let a \
         person promote it with --force.";
    AofResourceBusy = "resource_busy", Aof, Execution, Backoff, 409,
        "Another task in progress uses the resource of this one; claim it when that one is over.";
    AofPathOutsideTask = "path_outside_task", Aof, Validation, AfterChange, 422,
        "A path of the message is absolute or leads out of the folder of the task; name files \
         inside it.";
    AofInvalidProjectId = "invalid_project_id", Aof, Validation, AfterChange, 422,
        "The message names another project than the tree that it was sent to; send it there, or \
         leave projectId out.";
    AofInvalidRunResult = "invalid_run_result", Aof, Validation, AfterChange, 422,
        "run_result.json cannot be read, so that it moves nothing; report again, or remove the \
         file and release the task.";
    AofNoTaskTree = "no_task_tree", Aof, NotFound, AfterChange, 404,
        "The folder has no tree of tasks; make one with accord task init.";
    AofProjectMismatch = "project_mismatch", Aof, Validation, AfterChange, 409,
        "The tree belongs to another project; name that project, or another folder.";
    AofProjectManifestInvalid = "project_manifest_invalid", Aof, Validation, AfterChange, 422,
        "project.yaml cannot be read; correct the place that the message names.";
    AofTaskNotReady = "task_not_ready", Aof, Validation, AfterChange, 409,
        "Only a ready task can be claimed; take another one, or wait until this one is ready.";
    AofUnassignedTask = "unassigned_task", Aof, Validation, AfterChange, 409,
        "The task has neither a lease nor an agent; claim it first.";
    AofUnauthorizedAgent = "unauthorized_agent", Aof, Auth, AfterChange, 403,
        "Another agent has this task; only its agent can report on it.";
    AofDependencyNotFound = "dependency_not_found", Aof, Validation, AfterChange, 422,
        "A task cannot wait for a task that does not exist; create that task first.";
    AofDependencyCycle = "dependency_cycle", Aof, Validation, AfterChange, 409,
        "The tasks would wait for each other; remove one of the dependencies that the message \
         names.";
    AofStaleRun = "stale_run", Aof, Validation, Never, 409,
        "The message belongs to an earlier run of the task; stop the work, because the task was \
         given to another run.";
    AofTaskFileInvalid = "task_file_invalid", Aof, Validation, AfterChange, 422,
        "The file of the task is not valid; correct it as the message says, or restore it.";
    AofTaskTreeUnavailable = "task_tree_unavailable", Aof, Execution, Backoff, 503,
        "The tree of tasks cannot be read or written; look at the file that the message names.";
    AofTaskTreeElsewhere = "task_tree_elsewhere", Aof, Execution, AfterChange, 421,
        "The files of the tasks are on another machine; start the worker there, as the message \
         says.";
    AofAgentNotStarted = "agent_not_started", Aof, Execution, AfterChange, 500,
        "The program of the agent cannot be started; the task was given back. Correct the command \
         of the agent.";
    AofTaskNeedsAdopt = "task_needs_adopt", Aof, Approval, AfterChange, 409,
        "Nothing says who gave out the lease of the task; a person must look at it and take it \
         over with accord task adopt.";
    AofNothingToAdopt = "nothing_to_adopt", Aof, Validation, AfterChange, 409,
        "No edit of this file was refused; accord task lint lists what a person can take over.";
    AofTaskTreeOfAnotherHost = "task_tree_of_another_host", Aof, Validation, AfterChange, 409,
        "A host of another data folder schedules these tasks; unlink them there with accord \
         project unlink, or use that host.";
    AofTaskTreeOfAnotherProject = "task_tree_of_another_project", Aof, Validation, AfterChange, 409,
        "The folder has the tasks of another project; link it to the project that its \
         project.yaml names.";
    AofTaskIdsExhausted = "task_ids_exhausted", Aof, Execution, AfterChange, 507,
        "Every task id of this day is in use; create the task tomorrow (UTC), or in another \
         project.";
}

impl Names for Code {
    const NAME: &'static str = "ErrorCode";
    const ALL: &'static [Self] = Self::ALL;
    // A contract lists codes by category, so a new code changes no message.
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
                // The guide has one reason with a capital letter inside.
                Protocol::Aof => c.is_ascii_alphabetic(),
                Protocol::Accord | Protocol::Alx => c.is_ascii_uppercase(),
            };
            let tidy = |c: char| letter(c) || c.is_ascii_digit() || c == '_';
            assert!(text.chars().all(tidy) && text.starts_with(letter));
            assert!((400..600).contains(&code.http_status()), "{text} is no failure");
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
            // Two protocols spell one word differently; the variant names the protocol.
            let owner = match code.protocol() {
                Protocol::Agentic => "Agentic",
                Protocol::Xchain => "Xchain",
                Protocol::Aof => "Aof",
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

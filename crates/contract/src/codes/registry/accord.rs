//! The codes of Accord itself.

#[rustfmt::skip]
macro_rules! accord_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Accord {
    Usage = "USAGE", Validation, AfterChange, 400,
        "The command line is not valid; run the command with --help to see what it takes.";
    IdAmbiguous = "ID_AMBIGUOUS", Validation, AfterChange, 409,
        "Several ids begin with this text; type more of the id, or all of it.";
    InputUnreadable = "INPUT_UNREADABLE", Validation, AfterChange, 400,
        "The input cannot be read: it does not exist, is a folder, or permission is missing; check \
         the path and its permissions.";
    InputTooLarge = "INPUT_TOO_LARGE", Validation, AfterChange, 413,
        "The input is larger than the limit; send a smaller document or split it.";
    OutputClosed = "OUTPUT_CLOSED", Execution, Never, 500,
        "The reader of the output closed it before the end; the command then ends without a \
         message, with exit code 141, so that no document has this code.";
    OutputFailed = "OUTPUT_FAILED", Execution, AfterChange, 500,
        "The output cannot be written; check the path, its permissions and the free space.";

    WiringFileBroken = "WIRING_FILE_BROKEN", Validation, AfterChange, 422,
        "A settings file of a coding agent cannot be edited safely, and nothing was written; \
         correct the file at the named line.";
    WiringMarkers = "WIRING_MARKERS", Validation, AfterChange, 422,
        "The markers of Accord's block in a file of instructions are doubled, nested or not \
         closed, and nothing was written; keep one pair of them, or none.";
    WiringNameTaken = "WIRING_NAME_TAKEN", Validation, AfterChange, 409,
        "Another MCP server has the name, and nothing was written; choose another name with \
         --name.";
    WiringOutside = "WIRING_OUTSIDE", Validation, AfterChange, 422,
        "A settings file is a link that leads out of the project, and nothing was written; \
         replace the link, or edit its target by hand.";
    WiringUnconfirmed = "WIRING_UNCONFIRMED", Validation, AfterChange, 409,
        "Nobody confirmed the changes, and nothing was written; answer the question on a terminal, \
         or use --yes after --dry-run.";
    WiringMoved = "WIRING_MOVED", Execution, Backoff, 409,
        "A settings file changed while it was edited, and nothing was written; run the command \
         again.";

    CanonInvalidJson = "CANON_INVALID_JSON", Validation, AfterChange, 400,
        "The text is not JSON; correct the syntax at the named place.";
    CanonInvalidUtf8 = "CANON_INVALID_UTF8", Validation, AfterChange, 400,
        "The bytes are not UTF-8; save the document in that encoding.";
    CanonDuplicateKey = "CANON_DUPLICATE_KEY", Validation, AfterChange, 422,
        "An object has the same member twice, so two readers could see two documents; keep one of \
         them.";
    CanonLoneSurrogate = "CANON_LONE_SURROGATE", Validation, AfterChange, 422,
        "A string has half of a surrogate pair, which is not a character; complete or remove the \
         escape.";
    CanonNullForbidden = "CANON_NULL_FORBIDDEN", Validation, AfterChange, 422,
        "This canonical form does not allow null; leave the member out or give it a value.";
    CanonNonFinite = "CANON_NON_FINITE", Validation, AfterChange, 422,
        "A number is too large for a double; write it smaller, or as a string.";
    CanonInexactInteger = "CANON_INEXACT_INTEGER", Validation, AfterChange, 422,
        "An integer would become another number in canonical form; write it as a string, or ask \
         for rounding.";
    CanonTooDeep = "CANON_TOO_DEEP", Validation, AfterChange, 422,
        "Lists and objects are nested past the limit; make the document flatter.";

    WireFieldMissing = "WIRE_FIELD_MISSING", Validation, AfterChange, 422,
        "A required member is missing; add it at the named place.";
    WireFieldType = "WIRE_FIELD_TYPE", Validation, AfterChange, 422,
        "A member has the wrong JSON type; change it at the named place.";
    WireFieldValue = "WIRE_FIELD_VALUE", Validation, AfterChange, 422,
        "A member has a value that its message does not allow; use one of the values that the \
         error names.";
    WireFieldUnknown = "WIRE_FIELD_UNKNOWN", Validation, AfterChange, 422,
        "A closed message has an unknown member; remove it or correct its name.";

    SnapshotInvalid = "SNAPSHOT_INVALID", Validation, AfterChange, 422,
        "A document is not a contract snapshot; correct it at the named place.";
    CompatRuleInvalid = "COMPAT_RULE_INVALID", Validation, AfterChange, 422,
        "A rule setting names an unknown rule, a rule that the policy fixes, or an unknown class; \
         use one of the named rules and classes.";

    KitCaseInvalid = "KIT_CASE_INVALID", Validation, AfterChange, 422,
        "A case file is not valid JSON, has an unknown member, or contradicts itself; correct the \
         file at the named place.";
    KitCorpusUnreadable = "KIT_CORPUS_UNREADABLE", Validation, AfterChange, 422,
        "A folder or file of the corpus cannot be read; check the path and its permissions.";
    KitProtocolUnknown = "KIT_PROTOCOL_UNKNOWN", NotFound, AfterChange, 404,
        "There is no corpus for this protocol; choose one that the message lists.";
    KitCaseUnknown = "KIT_CASE_UNKNOWN", NotFound, AfterChange, 404,
        "No case has that id; list the cases to find the right one.";
    KitFilterInvalid = "KIT_FILTER_INVALID", Validation, AfterChange, 400,
        "The filter expression cannot be read; correct it at the named column.";
    KitBaselineInvalid = "KIT_BASELINE_INVALID", Validation, AfterChange, 422,
        "The baseline of known failures is not valid; correct the file at the named place.";
    KitBaselineStale = "KIT_BASELINE_STALE", Validation, AfterChange, 409,
        "The baseline lists a case as a known failure that now passes, or whose entry has expired; \
         remove the entry.";
    KitAdapterNotFound = "KIT_ADAPTER_NOT_FOUND", NotFound, AfterChange, 404,
        "The adapter's program does not exist or cannot be executed; check the command.";
    KitAdapterProtocol = "KIT_ADAPTER_PROTOCOL", Execution, AfterChange, 502,
        "The adapter broke the fixture protocol by wrong output, a wrong exit code or an early \
         end; correct the adapter.";
    KitAdapterTimeout = "KIT_ADAPTER_TIMEOUT", Execution, Backoff, 504,
        "The adapter did not answer within the time limit of the case and was killed with its \
         process group; raise the limit or make the adapter faster.";
    KitServerUnreachable = "KIT_SERVER_UNREACHABLE", Execution, Backoff, 502,
        "The tested server cannot be reached or went away during a case; check its URL and that it \
         runs.";
    KitServerRefused = "KIT_SERVER_REFUSED", Auth, AfterCredentials, 403,
        "The tested server refuses the run, because its key is missing or has too few scopes; give \
         another key with --token, or name a project to read with --project.";
    KitServerTimeout = "KIT_SERVER_TIMEOUT", Execution, Backoff, 504,
        "The tested server did not answer completely within the time limit of a request or a case; \
         raise the limit or make the server faster.";
    KitServerProtocol = "KIT_SERVER_PROTOCOL", Execution, AfterChange, 502,
        "The tested server answered with something that is not HTTP, is larger than the limit, or \
         does not follow the fixture protocol; correct the server.";
    KitHarness = "KIT_HARNESS", Execution, Backoff, 500,
        "The kit itself could not run a case, for example because it could not create a temporary \
         folder; read the message and try again.";
    KitNoCaseRan = "KIT_NO_CASE_RAN", Validation, AfterChange, 422,
        "No case is left to run; widen the filter or the level.";
    KitNothingJudged = "KIT_NOTHING_JUDGED", Validation, AfterChange, 422,
        "No required case was judged, so the run shows nothing; widen the filter or the level, and \
         check the adapter, the URL and what the report lists as not implemented or skipped.";
    KitExportFailed = "KIT_EXPORT_FAILED", Execution, AfterChange, 500,
        "The corpus could not be written to the folder; choose an empty, writable folder.";
    KitCapabilitiesUnreadable = "KIT_CAPABILITIES_UNREADABLE", NotFound, AfterChange, 404,
        "The capabilities of the tested implementation cannot be read from its folder or its \
         server; check the folder, the URL and the token.";
    KitCapabilitiesInvalid = "KIT_CAPABILITIES_INVALID", Validation, AfterChange, 422,
        "The capabilities of the tested implementation do not follow the fixture protocol; correct \
         them at the named place.";
    KitSurfaceUnclaimed = "KIT_SURFACE_UNCLAIMED", Validation, AfterChange, 422,
        "The tested implementation does not claim this surface; choose one that it claims, or name \
         none.";

    StoreFull = "STORE_FULL", Execution, AfterChange, 507,
        "The store has no space left and kept nothing of the request; free space on its disk or \
         raise its limit, then retry.";
    StoreReadOnly = "STORE_READ_ONLY", Execution, AfterChange, 503,
        "The store can be read but not written; check the permissions of its folder and whether \
         its disk is mounted read-only.";
    StoreCorrupt = "STORE_CORRUPT", Execution, Never, 500,
        "The store is damaged; stop the server, keep a copy of the folder, and restore a backup.";
    StoreBusy = "STORE_BUSY", Execution, Backoff, 503,
        "Too many requests wait for the store, and this one was not carried out; wait and retry.";
    StoreLocked = "STORE_LOCKED", Execution, AfterChange, 409,
        "Another process has the store open; use that process, or stop it first.";
    StoreUnavailable = "STORE_UNAVAILABLE", Execution, Backoff, 503,
        "The store cannot be reached or is closing, and the request may or may not have been \
         carried out; retry later.";
    StoreTooNew = "STORE_TOO_NEW", Execution, AfterChange, 500,
        "A later version of Accord wrote the store in a format that this one does not know; use \
         that version.";
    StoreMissing = "STORE_MISSING", NotFound, AfterChange, 404,
        "There is no store at this path, the file is not a store, or there is no data folder and \
         no place for a new one; check the path, or name a data folder.";
    StoreFolderUnusable = "STORE_FOLDER_UNUSABLE", Execution, AfterChange, 500,
        "The data folder cannot be created; choose another path, or check the parent folder and \
         its permissions.";
    StoreFolderUntrusted = "STORE_FOLDER_UNTRUSTED", Validation, AfterChange, 403,
        "The data folder that was found belongs to another user, names a server while others can \
         enter it, or has settings that you have not trusted; name the folder if you trust it, \
         make it private, or run `accord config trust`.";
    StoreOccupied = "STORE_OCCUPIED", Validation, AfterChange, 409,
        "The path already has a store or a file; choose another path, or allow it to be replaced.";
    StoreConflict = "STORE_CONFLICT", Execution, Backoff, 409,
        "Another request changed the same data in the meantime; read it again and repeat the \
         request.";
    StoreBroken = "STORE_BROKEN", Execution, Never, 500,
        "A bug in the server interrupted the work on the store, and nothing of it was kept; report \
         it with the server's log.";

    HttpRouteUnknown = "HTTP_ROUTE_UNKNOWN", NotFound, AfterChange, 404,
        "The server has no route with this path; see /openapi.json for its routes.";
    HttpMethodNotAllowed = "HTTP_METHOD_NOT_ALLOWED", Validation, AfterChange, 405,
        "The route does not support this method; use one of those in the Allow header.";
    HttpMalformed = "HTTP_MALFORMED", Validation, AfterChange, 400,
        "The request is not valid HTTP; correct its path, headers or query.";
    HttpNotAcceptable = "HTTP_NOT_ACCEPTABLE", Validation, AfterChange, 406,
        "The route cannot answer in a media type that the client accepts; send the header Accept \
         that the message names.";
    HttpMediaType = "HTTP_MEDIA_TYPE", Validation, AfterChange, 415,
        "The route does not accept a body of this media type; send the one that the message names.";
    HttpRangeNotSatisfiable = "HTTP_RANGE_NOT_SATISFIABLE", Validation, AfterChange, 416,
        "The blob does not have the bytes that the header Range asks for; the header Content-Range \
         of the answer has its size.";
    HttpHeadersTooLarge = "HTTP_HEADERS_TOO_LARGE", Validation, AfterChange, 431,
        "The path and headers of the request are larger than the limit; send fewer or shorter \
         ones.";
    HttpHeaderTimeout = "HTTP_HEADER_TIMEOUT", Execution, Backoff, 408,
        "The headers of the request arrived too slowly; retry over a better connection.";
    HttpBodyTimeout = "HTTP_BODY_TIMEOUT", Execution, Backoff, 408,
        "The body of the request arrived too slowly, and nothing was done; retry over a better \
         connection.";
    HttpBodyBroken = "HTTP_BODY_BROKEN", Validation, AfterChange, 400,
        "The body of the request ended too early, and nothing was done; send all of it.";
    HttpTooManyConnections = "HTTP_TOO_MANY_CONNECTIONS", Execution, Backoff, 503,
        "The server has reached its limit of connections; wait and retry, or raise \
         limits.connections.";
    HttpTooManyStreams = "HTTP_TOO_MANY_STREAMS", Execution, Backoff, 503,
        "The server has reached its limit of event streams; close one, wait, or raise \
         limits.event_streams.";
    LiveTooManySockets = "LIVE_TOO_MANY_SOCKETS", Execution, Backoff, 503,
        "The server has reached its limit of live sockets; close one, wait, or raise \
         limits.live_sockets.";
    LiveSubscriberSlow = "LIVE_SUBSCRIBER_SLOW", Execution, Backoff, 503,
        "The subscriber of a live session reads more slowly than frames arrive, and was closed; \
         subscribe again with the fromSeq of the details.";
    HttpHostRefused = "HTTP_HOST_REFUSED", Auth, AfterChange, 403,
        "The Host header is not one of this server's names; use its address, or list the name in \
         allowed_hosts.";
    HttpOriginRefused = "HTTP_ORIGIN_REFUSED", Auth, AfterChange, 403,
        "A page of another site sent the request; list that site in allowed_origins to allow it.";
    LoginRequired = "LOGIN_REQUIRED", Auth, AfterCredentials, 401,
        "The page is not signed in, or its login has ended; sign in with a key, or with a link of \
         accord live open.";
    LoginLinkInvalid = "LOGIN_LINK_INVALID", Auth, AfterCredentials, 401,
        "The link to sign in was used before, has expired or is not one of this server; make a new \
         one with accord live open.";
    LoginTooOften = "LOGIN_TOO_OFTEN", Execution, Backoff, 429,
        "Too many attempts to sign in have failed within a minute; wait a minute and try again.";
    LiveSessionEnded = "LIVE_SESSION_ENDED", NotFound, Never, 410,
        "The live session has ended and takes no more answers; let the agent begin a new one.";
    LiveAskEnded = "LIVE_ASK_ENDED", NotFound, Never, 410,
        "The time in which the live session takes answers is over; let the agent ask again.";
    LiveAskConflict = "LIVE_ASK_CONFLICT", Validation, AfterChange, 409,
        "The id or the live session is that of a question, which stays as it was asked; repeat \
         that question, or ask another one under another id.";
    LiveTooManyAsks = "LIVE_TOO_MANY_ASKS", Execution, Backoff, 429,
        "The actor has as many open questions in the project as limits.live_asks allows; wait \
         until people have answered some, or until their time is over.";
    InboxItemNotFound = "INBOX_ITEM_NOT_FOUND", NotFound, AfterChange, 404,
        "Nothing of this name waits in the inbox: it was decided, or its source changed; list the \
         inbox again.";
    HttpFault = "HTTP_FAULT", Execution, Never, 500,
        "The server failed because of a bug; report it with the correlation id and the server's \
         log.";
    HostClosing = "HOST_CLOSING", Execution, Backoff, 503,
        "The server is shutting down and accepts no more requests; retry when it is back.";
    HostOwnerOnly = "HOST_OWNER_ONLY", Auth, AfterCredentials, 403,
        "Only the owner of the data folder may do this; use the accord command on the server's \
         data folder.";
    KeyNotFound = "KEY_NOT_FOUND", NotFound, AfterChange, 404,
        "There is no key with this id; list the keys to find the right one.";
    PersonNotFound = "PERSON_NOT_FOUND", NotFound, AfterChange, 404,
        "Nobody of this name was added; list people with accord person list.";
    ItemNeedsLogin = "ITEM_NEEDS_LOGIN", Approval, AfterChange, 409,
        "Only somebody with a login or a key decides this item; a link that needs no login is for \
         questions of live sessions.";
    MailNotSent = "MAIL_NOT_SENT", Execution, AfterChange, 409,
        "The mail was not sent: there is no program for it, no stored address, or the program \
         failed; see the message, the setting notify.mail, and accord person list.";
    PersonExists = "PERSON_EXISTS", Validation, AfterChange, 409,
        "Somebody of this name was added before; change that person with accord person change.";

    EdgeNotFound = "edge_not_found", NotFound, AfterChange, 404,
        "The project has no edge, or the edge nothing, with this id; list the edges with accord \
         project edges.";
    EdgeOfAnotherKey = "edge_of_another_key", Auth, AfterCredentials, 403,
        "Another key joined this edge; use that key, or join the work tree as a new edge with \
         accord join --new.";
    EdgeLeft = "edge_left", Validation, AfterChange, 409,
        "This edge has left the hub; join the work tree again with accord join.";
    WorkFull = "work_full", Validation, AfterChange, 409,
        "The workers of this task or turn left as many packages and facts as can be taken back if \
         a person rejects their work; say the rest in the report or result of the work.";
    RunElsewhere = "run_elsewhere", Validation, AfterChange, 409,
        "The repository of the run is not open to the hub, which shows only what was sent; run the \
         command in the repository, on the machine that the message names.";
    EdgeDuplicated = "edge_duplicated", Validation, AfterChange, 409,
        "This folder is a copy of a joined work tree that still exists; join the copy as a new \
         edge with accord join --new.";
    EdgeMarkChanged = "edge_mark_changed", Validation, AfterChange, 409,
        "The mark of a joined work tree is missing, or names the edge of another folder; find out \
         what changed it, then join the work tree again with accord join.";
    AlreadyJoined = "already_joined", Validation, AfterChange, 409,
        "The work tree is joined to another hub or project; leave that one first with accord \
         leave.";
    NotJoined = "not_joined", Validation, AfterChange, 409,
        "The work tree is not joined to a hub; join it with accord join URL --project ID.";
    EdgeBehind = "edge_behind", Validation, AfterChange, 409,
        "The hub has more of this edge than its outbox, which was restored or lost; join the work \
         tree as a new edge with accord join --new.";
    EdgeNotDecidable = "edge_not_decidable", Approval, AfterChange, 409,
        "The join of this edge does not let the hub, or this person, decide this; decide at the \
         edge, or join again with --decide and --deciders.";
    EdgeDecisionWaits = "edge_decision_waits", Validation, AfterChange, 409,
        "Another decision about this request waits for the edge; withdraw that one first, or \
         wait until the edge has applied it.";
    EdgeDecisionEnded = "edge_decision_ended", Validation, AfterChange, 409,
        "The decision has ended and cannot be withdrawn; look at its state with accord project \
         edges EDGE.";
    EdgeDamaged = "edge_damaged", Validation, AfterChange, 409,
        "The outbox of this edge is damaged, or the hub has another entry with the same number; \
         join the work tree as a new edge with accord join --new.";

    SettingUnknown = "SETTING_UNKNOWN", Validation, AfterChange, 400,
        "A setting has an unknown name; correct it. accord config show lists all settings.";
    SettingInvalid = "SETTING_INVALID", Validation, AfterChange, 400,
        "A setting has a value that is not allowed; correct it at the named place.";
    ServeKeysNeeded = "SERVE_KEYS_NEEDED", Validation, AfterChange, 400,
        "A server that others can reach needs keys; create one with accord key create, or listen \
         on 127.0.0.1.";
    ServeTlsNeeded = "SERVE_TLS_NEEDED", Validation, AfterChange, 400,
        "A server that others can reach needs TLS; give --tls-cert and --tls-key, or \
         --behind-proxy if a proxy terminates TLS.";
    ServeTlsInvalid = "SERVE_TLS_INVALID", Validation, AfterChange, 400,
        "The certificate or its private key cannot be used; give PEM files that belong together.";
    ServeListenFailed = "SERVE_LISTEN_FAILED", Execution, AfterChange, 500,
        "The server cannot listen on this address; choose a free one of this machine with \
         --listen. Port 0 takes any free port.";
    ServeSocketFailed = "SERVE_SOCKET_FAILED", Execution, AfterChange, 500,
        "The socket in the data folder cannot be created; choose a folder with a shorter path, on \
         a file system with sockets.";

    HostUnreachable = "HOST_UNREACHABLE", Execution, Backoff, 502,
        "No host answers at this address, or the connection broke; check the URL, the network and \
         that the host runs, then check whether the request was carried out.";
    HostTimeout = "HOST_TIMEOUT", Execution, Backoff, 504,
        "The host did not answer in time, and the request may or may not have been carried out; \
         check, and retry.";
    HostTls = "HOST_TLS", Execution, AfterChange, 502,
        "The TLS connection to the host failed; check its certificate and the certificates that \
         this system trusts.";
    HostProtocol = "HOST_PROTOCOL", Execution, AfterChange, 502,
        "The server at this address is not an Accord host; check the URL.";

    McpToolTwice = "MCP_TOOL_TWICE", Validation, AfterChange, 500,
        "Two tools have the same name; rename one of them, or offer only one of the two tool sets.";
    McpToolUnknown = "MCP_TOOL_UNKNOWN", NotFound, AfterChange, 404,
        "There is no tool or tool set with this name; choose one that the message lists.";
    McpPromptUnknown = "MCP_PROMPT_UNKNOWN", NotFound, AfterChange, 404,
        "There is no prompt with this name; choose one that the message lists.";
    McpResourceUnknown = "MCP_RESOURCE_UNKNOWN", NotFound, AfterChange, 404,
        "The URI names no resource; use one of the form that the message names.";
    McpArgumentMissing = "MCP_ARGUMENT_MISSING", Validation, AfterChange, 400,
        "A tool was called without a required argument; call it again with the named argument.";
    McpArgumentInvalid = "MCP_ARGUMENT_INVALID", Validation, AfterChange, 400,
        "An argument of a tool does not match its schema; call the tool again with the form that \
         the message names.";
    McpArgumentUnknown = "MCP_ARGUMENT_UNKNOWN", Validation, AfterChange, 400,
        "A tool was called with an unknown argument; leave it out or correct its name.";
    McpBudgetTooSmall = "MCP_BUDGET_TOO_SMALL", Validation, AfterChange, 400,
        "Even the smallest answer does not fit into max_tokens; ask with at least the number of \
         tokens that the message names.";
    McpSessionUnknown = "MCP_SESSION_UNKNOWN", NotFound, AfterChange, 404,
        "The MCP session does not exist, has ended, or belongs to another key; initialize a new \
         one.";
    McpSessionNeeded = "MCP_SESSION_NEEDED", Validation, AfterChange, 400,
        "A client without an MCP session wrote without saying who it is; pass actor, or the \
         session_id that memory_session_start returned, or use a key with an actor.";
    McpDuplicateId = "MCP_DUPLICATE_ID", Validation, AfterChange, 409,
        "Another request of the same MCP session with this id has no answer yet; use a new id for \
         every request.";
    McpCallCancelled = "MCP_CALL_CANCELLED", Execution, Backoff, 503,
        "The client cancelled the call before its answer; call again. Nothing is lost.";
    McpTooManySessions = "MCP_TOO_MANY_SESSIONS", Execution, Backoff, 503,
        "The server has reached its limit of MCP sessions; end one, or wait until an idle one \
         expires.";
    McpRequestInvalid = "MCP_REQUEST_INVALID", Validation, AfterChange, 400,
        "The request is not valid for MCP over streamable HTTP; correct its headers or its body as \
         the message says.";
    } } };
}

//! The codes of ggui. Those of its tools are in small letters.

#[rustfmt::skip]
macro_rules! ggui_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Ggui {
    GguiInvalidJson = "INVALID_JSON", Validation, AfterChange, 400,
        "The frame is not JSON; send one JSON object in each frame.";
    GguiInvalidMessage = "INVALID_MESSAGE", Validation, AfterChange, 400,
        "The frame is not an object with a type, or its payload lacks a member; correct the member \
         that the message names.";
    GguiUnsupportedMessage = "UNSUPPORTED_MESSAGE", Validation, AfterChange, 400,
        "The channel has no frame of this type; send one of the types that the message names.";
    GguiUnauthenticated = "UNAUTHENTICATED", Auth, AfterCredentials, 401,
        "The socket has no identity, or its identity was used by an earlier subscribe; connect \
         again with a key, or send a wsToken with subscribe.";
    GguiNotSubscribed = "NOT_SUBSCRIBED", Validation, AfterChange, 409,
        "The socket is not subscribed to a session; send subscribe first.";
    GguiSessionMismatch = "SESSION_MISMATCH", Validation, AfterChange, 409,
        "The frame names another session than the one that its socket is subscribed to; open a \
         socket for each session.";
    GguiSessionNotFound = "SESSION_NOT_FOUND", NotFound, AfterChange, 404,
        "The session does not exist, has expired, or is not for this caller; start a new one with \
         ggui_render, or check the id.";
    GguiSessionCreateFailed = "SESSION_CREATE_FAILED", Execution, Backoff, 503,
        "The session could not be created, and nothing was kept; subscribe again after a wait.";
    GguiAppMismatch = "APP_MISMATCH", Auth, AfterChange, 403,
        "The session belongs to another app, or no app was named and none follows from the \
         credentials; name the app of the session.";
    GguiUpgradeRequired = "UPGRADE_REQUIRED", Validation, Never, 426,
        "The client does not speak the protocol version of this server; use a client that supports \
         the version in details.serverVersion.";
    GguiContractViolation = "CONTRACT_VIOLATION", Validation, AfterChange, 422,
        "The data does not match the contract of the session, and nothing was recorded; correct \
         each of details.violations and send it again.";
    GguiAppendFailed = "APPEND_FAILED", Execution, Backoff, 503,
        "The action could not be recorded; send it again after a wait.";
    GguiBootstrapNotSupported = "BOOTSTRAP_NOT_SUPPORTED", Execution, Never, 501,
        "This server issues no wsToken; authenticate with a key instead.";
    GguiBootstrapExpired = "BOOTSTRAP_EXPIRED", Auth, AfterCredentials, 410,
        "The wsToken has expired; refresh it, or read the session again to get a new one.";
    GguiBootstrapInvalid = "BOOTSTRAP_INVALID", Auth, AfterCredentials, 401,
        "The wsToken was not issued by this server or is not meant for this use; read the session \
         again to get a new one.";
    GguiBootstrapSessionMismatch = "BOOTSTRAP_SESSION_MISMATCH", Auth, AfterCredentials, 401,
        "The wsToken was issued for another session; use the token of this session.";
    GguiBootstrapAppMismatch = "BOOTSTRAP_APP_MISMATCH", Auth, AfterCredentials, 401,
        "The wsToken was issued for another app; leave appId out, or use the token of that app.";
    GguiInvalidSinceSequence = "INVALID_SINCE_SEQUENCE", Validation, AfterChange, 400,
        "sinceSequence is not a whole number from zero; send the last sequence that you have seen.";
    GguiReplayHorizonPassed = "REPLAY_HORIZON_PASSED", NotFound, AfterChange, 410,
        "The events after this sequence are no longer kept, or it is later than the last one; read \
         the state of the session again, and go on from details.currentSequence.";

    GguiChannelUnknown = "CHANNEL_UNKNOWN", NotFound, AfterChange, 404,
        "The contract of the session has no such channel, or the channel has no source tool; \
         subscribe to a channel that it declares.";
    GguiChannelNotLocal = "CHANNEL_NOT_LOCAL", Execution, Never, 501,
        "The source tool of the channel does not run on this server; let the agent send on the \
         channel with ggui_emit.";
    GguiSubscribeUnauthorized = "SUBSCRIBE_UNAUTHORIZED", Auth, AfterChange, 403,
        "The channel belongs to another session than the one that the socket is subscribed to; \
         open a socket for that session.";
    GguiPollFailed = "POLL_FAILED", Execution, Backoff, 502,
        "The source tool of the channel failed; the server asks it again at the next interval.";

    GguiNotFound = "NOT_FOUND", NotFound, AfterChange, 404,
        "The resource does not exist, or is not for this caller; check its URI.";
    GguiBlueprintUnresolvable = "BLUEPRINT_UNRESOLVABLE", NotFound, AfterChange, 410,
        "The component of the session is no longer kept; render it again.";
    GguiNotSupported = "NOT_SUPPORTED", Execution, Never, 501,
        "This server keeps no sessions that can be read later; use the result of ggui_render.";
    GguiNotMountable = "NOT_MOUNTABLE", Execution, AfterChange, 409,
        "The session has nothing that a host can mount: no component code that fits and no live \
         channel; open its page instead.";
    GguiValidationError = "VALIDATION_ERROR", Validation, AfterChange, 422,
        "The rendered component is not valid; correct what the message names and render it again.";

    GguiInvalidActionKind = "INVALID_ACTION_KIND", Validation, AfterChange, 400,
        "The action is of a kind that this server does not relay; send dispatch, openLink or \
         requestDisplayMode.";
    GguiPipeNotFound = "PIPE_NOT_FOUND", NotFound, AfterChange, 404,
        "No agent can receive the action, because the session was not rendered or has expired; let \
         the agent render it again.";
    GguiTenantMismatch = "TENANT_MISMATCH", Auth, AfterChange, 403,
        "The session belongs to another app; name the app of the session.";
    GguiContextSchemaViolation = "CONTEXT_SCHEMA_VIOLATION", Validation, AfterChange, 422,
        "A context value does not match its slot, and the snapshot was not kept; correct the named \
         slot.";
    GguiContextTooLarge = "CONTEXT_TOO_LARGE", Validation, AfterChange, 413,
        "The context snapshot has too many slots or too many bytes, and was not kept; send less.";
    GguiRefreshWindowClosed = "REFRESH_WINDOW_CLOSED", Auth, AfterCredentials, 410,
        "The wsToken is too old to be refreshed; read the session again to get a new one.";

    GguiRateLimitExceeded = "RATE_LIMIT_EXCEEDED", Execution, Backoff, 429,
        "The app renders too often, and nothing was rendered; wait as long as the message says. \
         The handshake stays usable.";
    GguiSchemaMismatchError = "SCHEMA_MISMATCH_ERROR", Validation, AfterChange, 422,
        "An action accepts data that the tool it names would refuse; narrow the schema of the \
         action at each of the findings.";
    GguiToolHandshakeNotFound = "handshake_not_found", NotFound, AfterChange, 404,
        "The handshake does not exist, was used, or has expired; make a new one with \
         ggui_handshake.";
    GguiToolContractViolation = "contract_violation", Validation, AfterChange, 422,
        "The data does not match the contract of the session; correct each of the violations.";
    GguiToolContractSchemaInvalid = "contract_schema_invalid", Validation, AfterChange, 422,
        "A JSON Schema of the contract is not valid; correct each of the violations.";
    GguiToolContractValidationFailed = "contract_validation_failed", Validation, AfterChange, 422,
        "The contract is not valid; correct each of the violations.";
    GguiToolCrossReferenceUnresolved = "cross_reference_unresolved", Validation, AfterChange, 422,
        "The contract names a tool that it does not declare; declare it in \
         agentCapabilities.tools, or name another.";
    GguiToolNameInvariantViolation = "name_invariant_violation", Validation, AfterChange, 422,
        "A name of the contract is reserved or used twice; rename the action, channel or slot.";
    GguiToolSchemaCompatIncompat = "schema_compat_incompat", Validation, AfterChange, 422,
        "A schema of the contract does not fit the schema of the tool that it names; change one of \
         them.";
    GguiToolOverrideContractInvalid = "override_contract_invalid", Validation, AfterChange, 422,
        "The contract in override is not valid; correct it, or render without override.";
    GguiToolBlueprintNotFound = "blueprint_not_found", NotFound, AfterChange, 404,
        "No UI of this id was rendered in the project; find one with ggui_search_blueprints, or \
         propose a new one with ggui_handshake.";
    GguiToolBlueprintRejected = "blueprint_rejected", Validation, AfterChange, 422,
        "The blueprint cannot be used with this contract; render from a new handshake.";
    GguiToolDuplicateGadgetHook = "duplicate_gadget_hook", Validation, AfterChange, 422,
        "Two packages of the contract export a gadget of the same name; use one of them.";
    GguiToolGadgetNotRegistered = "gadget_not_registered", Validation, AfterChange, 422,
        "The app has no gadget of this name; correct the name, or register the package.";
    GguiToolGadgetPackageMismatch = "gadget_package_mismatch", Validation, AfterChange, 422,
        "The app has the gadget in another package; name that package.";
    GguiToolGadgetPublicEnvMissing = "gadget_public_env_missing", Validation, AfterChange, 422,
        "A gadget needs a public value that the app does not set; set the named key.";

    GguiCtrDupName = "CTR_DUP_NAME", Validation, AfterChange, 422,
        "Two of actionSpec, streamSpec and contextSpec use the same name; rename one of them.";
    GguiCtrReservedName = "CTR_RESERVED_NAME", Validation, AfterChange, 422,
        "Names that begin with _ggui: are the server's; choose another name.";
    GguiCtrRefNextStep = "CTR_REF_NEXT_STEP", Validation, AfterChange, 422,
        "The nextStep of an action names no declared tool; declare it in agentCapabilities.tools, \
         or name another.";
    GguiCtrRefStreamSource = "CTR_REF_STREAM_SOURCE", Validation, AfterChange, 422,
        "The source of a channel names no declared tool; declare it in agentCapabilities.tools, or \
         name another.";
    GguiCtrSchemaIncompat = "CTR_SCHEMA_INCOMPAT", Validation, AfterChange, 422,
        "A schema of the contract does not fit the schema of its tool; change one of them.";
    GguiCtrSchemaMetaInvalid = "CTR_SCHEMA_META_INVALID", Validation, AfterChange, 422,
        "A JSON Schema is not valid or uses a keyword that is not supported; correct it at the \
         named place.";
    GguiCtrSchemaTooLarge = "CTR_SCHEMA_TOO_LARGE", Validation, AfterChange, 422,
        "A JSON Schema is nested too deep, has too many parts, or has a pattern that is too \
         expensive; simplify it at the named place.";
    GguiCtrValueTooComplex = "CTR_VALUE_TOO_COMPLEX", Validation, AfterChange, 422,
        "Checking the value against its schema takes too many steps; send a smaller value, or \
         simplify the schema.";
    GguiCtrRetiredField = "CTR_RETIRED_FIELD", Validation, AfterChange, 422,
        "The contract has a member of an earlier version; use the member that the message names.";
    GguiCtrUpdateMissingProps = "CTR_UPDATE_MISSING_PROPS", Validation, AfterChange, 422,
        "An update that replaces has no props; send them, or merge a patch.";
    GguiCtrUpdateMissingPatch = "CTR_UPDATE_MISSING_PATCH", Validation, AfterChange, 422,
        "An update that merges has no patch; send it, or replace the props.";
    GguiCtrUpdateMixedFields = "CTR_UPDATE_MIXED_FIELDS", Validation, AfterChange, 422,
        "An update has both props and a patch; send the one that its kind asks for.";
    GguiCtrRenderUnknownThemeId = "CTR_RENDER_UNKNOWN_THEME_ID", Validation, AfterChange, 422,
        "The app has no theme with this id; leave themeId out, or choose one of ggui_list_themes.";
    } } };
}

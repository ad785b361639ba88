//! The refusals of the channel and its tools: one function for each code, so that a code is chosen
//! in one place.
//!
//! A [`Failure`] has the members of the payload of an `error` frame: code, message and details.

use accord_contract::wire::DecodeError;
use accord_contract::{Code, Failure};

macro_rules! refusals {
    ($($(#[doc = $about:literal])* $name:ident = $code:ident;)+) => {
        $($(#[doc = $about])*
        pub fn $name(message: impl Into<String>) -> Failure {
            Failure::new(Code::$code, message)
        })+
    };
}

refusals! {
    /// A frame is not JSON.
    invalid_json = GguiInvalidJson;
    /// A frame, or a request of a tool, does not have its form.
    invalid_message = GguiInvalidMessage;
    /// A frame has an unknown type.
    unsupported_message = GguiUnsupportedMessage;
    /// The socket has no identity, or has used it.
    unauthenticated = GguiUnauthenticated;
    /// The socket is not subscribed.
    not_subscribed = GguiNotSubscribed;
    /// The socket is subscribed to another session.
    session_mismatch = GguiSessionMismatch;
    /// There is no such session, or it has expired.
    session_not_found = GguiSessionNotFound;
    /// A session could not be stored.
    session_create_failed = GguiSessionCreateFailed;
    /// The session belongs to another app, or no app can be resolved.
    app_mismatch = GguiAppMismatch;
    /// The client does not support the version.
    upgrade_required = GguiUpgradeRequired;
    /// An action, payload or value violates the contract.
    contract_violation = GguiContractViolation;
    /// An action could not be stored.
    append_failed = GguiAppendFailed;
    /// The server has no secret for tokens.
    bootstrap_not_supported = GguiBootstrapNotSupported;
    /// The token has expired.
    bootstrap_expired = GguiBootstrapExpired;
    /// The token is not valid.
    bootstrap_invalid = GguiBootstrapInvalid;
    /// The token is for another session.
    bootstrap_session_mismatch = GguiBootstrapSessionMismatch;
    /// The token is for another app.
    bootstrap_app_mismatch = GguiBootstrapAppMismatch;
    /// A position in the ledger is not a whole number from zero.
    invalid_since_sequence = GguiInvalidSinceSequence;
    /// A position in the ledger can no longer be reached, or not yet.
    replay_horizon_passed = GguiReplayHorizonPassed;
    /// The channel is not declared, or has no tool.
    channel_unknown = GguiChannelUnknown;
    /// The tool of the channel is not one of this server.
    channel_not_local = GguiChannelNotLocal;
    /// The socket may not subscribe to the channel.
    subscribe_unauthorized = GguiSubscribeUnauthorized;
    /// A poll of the channel's tool failed.
    poll_failed = GguiPollFailed;
    /// The kind of an action is unknown.
    invalid_action_kind = GguiInvalidActionKind;
    /// The session has no pipe.
    pipe_not_found = GguiPipeNotFound;
    /// The session belongs to another app than the request names.
    tenant_mismatch = GguiTenantMismatch;
    /// A value of a context snapshot violates the contract.
    context_schema_violation = GguiContextSchemaViolation;
    /// A context snapshot is too large.
    context_too_large = GguiContextTooLarge;
    /// A token can no longer be refreshed.
    refresh_window_closed = GguiRefreshWindowClosed;
    /// The app renders too often.
    rate_limit_exceeded = GguiRateLimitExceeded;
    /// There is no such handshake, or it was used, or it has expired.
    handshake_not_found = GguiToolHandshakeNotFound;
    /// There is no such UI in the project.
    blueprint_not_found = GguiToolBlueprintNotFound;
    /// There is no such session for the caller of a tool.
    tool_session_not_found = AgenticSessionNotFound;
}

/// A document that is not the message that it should be.
pub fn decoded(error: &DecodeError) -> Failure {
    let field = error.pointer.trim_start_matches('/').replace('/', ".");
    invalid_message(error.to_string()).at(error.pointer.as_str()).with("field", field)
}

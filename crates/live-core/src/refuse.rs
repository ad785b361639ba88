//! The refusals of the channel and its tools: one function for each code, so that a code is chosen
//! in one place.
//!
//! A [`Failure`] has the members of the payload of an `error` frame: code, message and details.

use accord_contract::{Code, Failure, wire::DecodeError};

macro_rules! refusals {
    ($($(#[doc = $about:literal])* $name:ident = $code:ident;)+) => {
        $($(#[doc = $about])*
        pub fn $name(message: impl Into<String>) -> Failure {
            Failure::new(Code::$code, message)
        })+
    };
}

refusals! {
    invalid_json = GguiInvalidJson;
    invalid_message = GguiInvalidMessage;
    unsupported_message = GguiUnsupportedMessage;
    unauthenticated = GguiUnauthenticated;
    not_subscribed = GguiNotSubscribed;
    session_mismatch = GguiSessionMismatch;
    session_not_found = GguiSessionNotFound;
    session_create_failed = GguiSessionCreateFailed;
    /// The session belongs to another app, or no app can be resolved.
    app_mismatch = GguiAppMismatch;
    upgrade_required = GguiUpgradeRequired;
    contract_violation = GguiContractViolation;
    append_failed = GguiAppendFailed;
    bootstrap_not_supported = GguiBootstrapNotSupported;
    bootstrap_expired = GguiBootstrapExpired;
    bootstrap_invalid = GguiBootstrapInvalid;
    bootstrap_session_mismatch = GguiBootstrapSessionMismatch;
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
    poll_failed = GguiPollFailed;
    invalid_action_kind = GguiInvalidActionKind;
    pipe_not_found = GguiPipeNotFound;
    /// The session belongs to another app than the request names.
    tenant_mismatch = GguiTenantMismatch;
    context_schema_violation = GguiContextSchemaViolation;
    context_too_large = GguiContextTooLarge;
    refresh_window_closed = GguiRefreshWindowClosed;
    rate_limit_exceeded = GguiRateLimitExceeded;
    handshake_not_found = GguiToolHandshakeNotFound;
    blueprint_not_found = GguiToolBlueprintNotFound;
    tool_session_not_found = AgenticSessionNotFound;
}

/// A document that is not the message that it should be.
pub fn decoded(error: &DecodeError) -> Failure {
    let field = error.pointer.trim_start_matches('/').replace('/', ".");
    invalid_message(error.to_string()).at(error.pointer.as_str()).with("field", field)
}

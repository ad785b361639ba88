//! The documents of ggui beside those of the tools that have a schema, as parts of Accord's wire
//! contract: frames of clients, steps of the control, violations, claims.
//!
//! Frames that a server sends are not among them: [`crate::frame::ServerFrame`] writes them, and
//! `docs/wire/live.md` describes them.

use crate::{token::Claims, violation::ViolationDetails};

/// What a client or a control sends.
pub mod requests {
    use crate::control::{CreateSession, EmitEnvelope, VersionOverride};
    use crate::frame::{ChannelSubscribe, ChannelUnsubscribe, HostContextObserved, Subscribe};

    accord_contract::contract_messages! {
        Request;
        Subscribe = "ggui-subscribe",
        HostContextObserved = "ggui-host-context-observed",
        ChannelSubscribe = "ggui-channel-subscribe",
        ChannelUnsubscribe = "ggui-channel-unsubscribe",
        CreateSession = "ggui-control-create-session",
        VersionOverride = "ggui-control-version-override",
        EmitEnvelope = "ggui-control-emit-envelope",
    }
}

accord_contract::contract_messages! {
    Response;
    ViolationDetails = "ggui-contract-violation",
    Claims = "ggui-token-claims",
}

//! The MCP tools of the protocol: what they take, what they answer, and how they refuse. The
//! transport is the host's.
//!
//! A request that is not the message that it should be is refused as invalid parameters (-32602).
//! A session of another app or user is the same as none: `session_not_found`.

pub mod answers;
mod handshake;
mod list;
pub mod reads;
mod render;
pub mod requests;
pub mod runtime;

pub use answers::{
    Cache, ConsumeAnswer, DeclareToolsAnswer, EmitAnswer, HandshakeAnswer, NextStep, PropsAnswer,
    RenderAnswer,
};
pub use handshake::{Prepared, prepare_handshake};
pub use list::{Audience, TOOLS, Tool};
pub use reads::{
    BlueprintDocument, BlueprintList, BlueprintSearch, GadgetDocument, GadgetList, PullAnswer,
    RenderSource, SessionDocument, SessionList, SessionSummary, ThemeDocument, ThemeList,
};
pub use render::{RenderFacts, Rendered, render, render_contract};
pub use requests::{
    BlueprintDraft, ConsumeRequest, EmitRequest, HandshakeRequest, ListSessionsRequest, Override,
    PropsRequest, PullRequest, RenderBlueprintRequest, RenderRequest, SearchBlueprintsRequest,
    SessionRequest,
};
pub use runtime::{
    DeclareToolsRequest, Outcome, RefreshTokenRequest, RuntimeAnswer, RuntimePageRequest,
    Submission, SubmitActionRequest, SyncContextRequest, TelemetryRequest, submit_action,
    tool_identities, with_tool_identities,
};

use accord_contract::{Failure, Object, Value, Wire};

/// Reads the arguments of a tool, unless they are not the message that they should be.
pub fn read<T: Wire>(arguments: Object) -> Result<T, Failure> {
    T::from_document(Value::Object(arguments)).map_err(Failure::from)
}

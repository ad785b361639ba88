//! What operations are asked for: part of Accord's wire contract.
//!
//! A door decodes the body of a request into one of these. The task is named beside it, in the
//! path of a route or the argument of a command, by its id or the beginning of its id.

mod create;
mod decide;
mod events;
mod list;
mod tree;
mod work;

pub use create::{CreateRequest, EditRequest, ReviewBy};
pub use decide::{
    AdoptRequest, ApproveRequest, BlockRequest, CancelRequest, CloseRequest, DependencyRequest,
    PromoteRequest, ResurrectRequest, SendBackRequest, UnblockRequest,
};
pub use events::EventsRequest;
pub(crate) use list::DEFAULT as DEFAULT_LIMIT;
pub use list::{BoardRequest, ListRequest, ShowRequest};
pub use tree::{InitRequest, LintRequest, PollRequest, SessionEndRequest};
pub use work::{ClaimNextRequest, ClaimRequest, HeartbeatRequest, ReleaseRequest};

/// Declares a request: a closed message with a default, so that a caller sets what it needs.
macro_rules! request {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident($wire:literal) {
            $(
                $(#[doc = $field_about:literal])*
                $presence:ident $field:ident: $ty:ty = $json:literal, $semantics:literal
                    $(, $limits:expr)?;
            )*
        }
    ) => {
        accord_contract::message! {
            $(#[doc = $about])*
            pub struct $name($wire, closed) {
                $(
                    $(#[doc = $field_about])*
                    $presence $field: $ty = $json, $semantics $(, $limits)?;
                )*
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    };
}
use request;

accord_contract::contract_messages! {
    Request;
    InitRequest = "task-init-request",
    CreateRequest = "task-create-request",
    EditRequest = "task-edit-request",
    ListRequest = "task-list-request",
    ShowRequest = "task-show-request",
    BoardRequest = "task-board-request",
    ClaimRequest = "task-claim-request",
    ClaimNextRequest = "task-claim-next-request",
    HeartbeatRequest = "task-heartbeat-request",
    ReleaseRequest = "task-release-request",
    BlockRequest = "task-block-request",
    UnblockRequest = "task-unblock-request",
    CancelRequest = "task-cancel-request",
    CloseRequest = "task-close-request",
    ApproveRequest = "task-approve-request",
    SendBackRequest = "task-send-back-request",
    AdoptRequest = "task-adopt-request",
    PromoteRequest = "task-promote-request",
    ResurrectRequest = "task-resurrect-request",
    DependencyRequest = "task-dependency-request",
    LintRequest = "task-lint-request",
    PollRequest = "task-poll-request",
    SessionEndRequest = "task-session-end-request",
    EventsRequest = "task-events-request",
}

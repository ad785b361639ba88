//! ggui: the decisions about frames, contracts, gadgets, resources and sessions. A case calls one
//! decision of the core, with the state that it needs in the arguments.
//!
//! Invariants: messages for people are left out; a session of a case is `s1` of the app `shop`, at
//! a fixed time.

mod access;
mod contracts;
mod frames;
mod gadgets;
mod ledgers;
mod parts;
mod props;
mod resources;
mod sessions;
mod streams;
mod tools;

use self::parts::refused;
use crate::{Adapter, Answered, Call, Reply};

/// Accord's own implementation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accord;

impl Adapter for Accord {
    fn protocol(&self) -> &'static str {
        "ggui"
    }

    fn perform(&self, call: &Call) -> Answered {
        call.allow_setup(&[])?;
        let decide = match call.operation.as_str() {
            "client_capabilities" => gadgets::client_capabilities,
            "gadget_descriptor" => gadgets::gadget_descriptor,
            "gadget_gate" => gadgets::gadget_gate,
            "bundle_urls" => gadgets::bundle_urls_of,
            "tool_bindings" => gadgets::tool_bindings,
            "binding_filter" => gadgets::binding_filter,
            "contract_hash" => contracts::contract_hash_of,
            "variant_key" => contracts::variant_key_of,
            "contract_check" => contracts::contract_check,
            "schema_check" => contracts::schema_check,
            "schema_subset" => contracts::schema_subset,
            "schema_compat" => contracts::schema_compat,
            "reserved_payload" => contracts::reserved_payload,
            "action" => contracts::action,
            "stream_payload" => contracts::stream_payload,
            "context_value" => contracts::context_value,
            "props_schema" => props::props_schema,
            "props_update" => props::props_update,
            "props_change" => props::props_change,
            "frame" => frames::frame,
            "socket_gate" => frames::socket_gate,
            "server_frame" => frames::server_frame,
            "host_context" => frames::host_context,
            "version_handshake" => frames::version_handshake,
            "token_verify" => access::token_verify,
            "token_mint" => access::token_mint,
            "token_refresh" => access::token_refresh,
            "identify" => access::identify_socket,
            "app_of" => access::app_of,
            "subscription" => access::subscription,
            "provision" => sessions::provision,
            "act" => sessions::act_on,
            "consume" => sessions::consume,
            "consume_wait" => sessions::consume_wait,
            "context_snapshot" => sessions::context_snapshot,
            "emit" => streams::emit_frame,
            "stream_replay" => streams::stream_replay,
            "live_frames" => streams::live_frames,
            "channel_subscription" => streams::channel_subscription,
            "redact" => streams::redact_details,
            "ledger_position" => ledgers::ledger_position,
            "ledger_type" => ledgers::ledger_type,
            "events_query" => ledgers::events_parameters,
            "stream_query" => ledgers::stream_parameters,
            "resource_read" => resources::resource_read,
            "tool_arguments" => tools::tool_arguments,
            "tools" => tools::list,
            "handshake" => tools::handshake,
            "render" => tools::render_ui,
            "runtime_submit" => tools::runtime_submit,
            _ => return Ok(Reply::NotImplemented),
        };
        decide(call).map(Reply::ok).or_else(|stop| stop.reply(refused))
    }
}

//! The document of a protocol with a channel: its place, its barrier, and the routes beside it.

use std::collections::BTreeMap;

use accord_contract::{Object, Value, message};

use super::{Requests, Route};

message! {
    /// The vocabulary of the cases of a protocol that is judged over a channel.
    pub struct ChannelList("ChannelList", closed) {
        /// The path of the WebSocket endpoint.
        required path: String = "path", "path";
        /// The path of the MCP endpoint.
        required mcp: String = "mcp", "path";
        /// How the end of the answers to earlier frames is found.
        required barrier: Barrier = "barrier", "channel-barrier";
        /// The routes by name.
        required routes: BTreeMap<String, Route> = "routes", "routes";
        /// The failure codes that cases may expect in answers of routes, each with its status.
        required codes: BTreeMap<String, u64> = "codes", "failure-codes";
        /// Templates of request bodies.
        required templates: BTreeMap<String, Object> = "templates", "templates";
    }

    /// A frame whose answer comes after the answers to all earlier frames of a socket. The
    /// variable `barrier` is different each time.
    pub struct Barrier("Barrier", closed) {
        /// What to send.
        required send: Value = "send", "frame";
        /// Its answer.
        required until: Value = "until", "expectation";
    }
}

impl ChannelList {
    pub(crate) fn requests(&self) -> Requests<'_> {
        Requests { routes: &self.routes, codes: &self.codes, templates: &self.templates }
    }
}

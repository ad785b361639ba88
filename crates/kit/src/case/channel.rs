//! A case that is judged over a channel: sockets to a server, the frames on them, and requests
//! beside them. A move that judges frames ends at a barrier, not after a time: a request whose
//! answer can only come after the answers to all earlier frames of the socket.

use std::collections::BTreeMap;

use accord_contract::{Object, Value, message};

use super::document::case_document;
use super::{Browse, Check, Credential, Generator, LineCount, Step};

case_document! {
    /// One case of a conformance corpus that is judged over a channel.
    pub struct ChannelCase("ChannelCase") of Channel {
        /// Variables that are generated for each run of the case.
        optional variables: BTreeMap<String, Generator> = "let", "variables";
        /// The moves, in order. The first that does not meet its expectation ends the case.
        required moves: Vec<Move> = "moves", "channel-moves";
    }
    write |case, channel| {
        variables: Some(channel.variables.clone()).filter(|made| !made.is_empty()),
        moves: channel.moves.clone(),
    }
    read |document| {
        Channel {
            variables: document.variables.unwrap_or_default(),
            moves: document.moves,
        },
        oracle: None
    }
}

message! {
    /// One move. It does exactly one thing; only `expect` and `closed` go together.
    pub struct Move("Move", closed) {
        /// What the move is for.
        optional about: String = "about", "text-for-people";
        /// How often the move is made; `${n}` counts from 1.
        optional repeat: u64 = "repeat", "count";
        /// The socket or the tab that the move is about; `main` if absent.
        optional socket: String = "on", "socket-name";
        /// A step for the conformance control of the server. A server that refuses it is not
        /// judged by the case.
        optional setup: Object = "setup", "control-step";
        /// A step that the conformance control must refuse, because the server refuses what it
        /// asks for.
        optional refused_setup: Object = "refused_setup", "control-step";
        /// A member of a session, as the conformance control reads it.
        optional field: SessionField = "field", "session-field";
        /// Opens a socket.
        optional open: Opening = "open", "socket-opening";
        /// Sends frames, one directly after the other.
        optional send: Vec<Value> = "send", "frames";
        /// Sends a text frame with this text.
        optional send_text: String = "send_text", "frame-text";
        /// Sends a binary frame with the UTF-8 bytes of this text.
        optional send_binary: String = "send_binary", "frame-text";
        /// Judges the frames that arrived since the last judgement.
        optional expect: FrameCheck = "expect", "frame-check";
        /// The server must close the socket. The frames before that are judged by `expect`.
        optional closed: ServerClose = "closed", "socket-close";
        /// Closes the socket; the server must answer the close.
        optional close: bool = "close", "flag";
        /// A request over HTTP.
        optional http: Step = "http", "http-step";
        /// A call of an MCP tool, or the read of an MCP resource.
        optional tool: ToolCall = "tool", "mcp-call";
        /// What a person sees in a browser.
        optional browse: Browse = "browse", "browser-move";
        /// Variables from the answer to a setup step, by JSON pointer.
        optional capture: BTreeMap<String, String> = "capture", "captures";
    }

    /// A member of a session that the conformance control reads.
    pub struct SessionField("SessionField", closed) {
        /// The session.
        required session: String = "session", "session-id";
        /// The name of the member.
        required name: String = "name", "member-name";
        /// Its expected value.
        required value: Value = "value", "expectation";
    }

    /// How a socket is opened.
    pub struct Opening("Opening", closed) {
        /// Parameters of the query.
        optional query: BTreeMap<String, String> = "query", "query-parameters";
        /// Further headers.
        optional headers: BTreeMap<String, String> = "headers", "http-headers";
        /// The key to send; the run's own if absent.
        optional credential: Credential = "credential", "credential-name";
        /// The parameter of the query that carries the key instead of the header.
        optional key_in: String = "key_in", "query-parameter";
        /// The statuses with one of which the server must refuse the socket.
        optional refused: Vec<u64> = "refused", "http-statuses";
    }

    /// What must be true of the frames of a socket. An expected frame may have assertions; a frame
    /// may have further members.
    pub struct FrameCheck("FrameCheck", closed) {
        /// Waits for a frame like this one instead of the barrier, for frames that no frame of the
        /// client causes.
        optional until: Value = "until", "expectation";
        /// Frames that must occur in this order. Others may be between them.
        optional order: Vec<Value> = "order", "expectations";
        /// Frames that must occur, in any order.
        optional some: Vec<Value> = "some", "expectations";
        /// Frames that must not occur.
        optional none: Vec<Value> = "none", "expectations";
        /// How often frames occur.
        optional times: Vec<LineCount> = "times", "frame-counts";
        /// Further checks of a document whose member `frames` lists the frames.
        optional checks: Vec<Check> = "checks", "checks";
        /// Variables from the frames.
        optional capture: BTreeMap<String, FrameCapture> = "capture", "frame-captures";
    }

    /// A value from a frame.
    pub struct FrameCapture("FrameCapture", closed) {
        /// The frame; the first like this one counts.
        required frame: Value = "frame", "expectation";
        /// Where the value is, as a JSON pointer.
        required at: String = "at", "json-pointer";
    }

    /// How a server closes a socket.
    pub struct ServerClose("ServerClose", closed) {
        /// The codes, one of which it is: 1005 for a close frame without a code, 1006 for an end
        /// of the connection without a close frame.
        required code: Vec<u64> = "code", "close-codes";
        /// The reason, if it matters.
        optional reason: String = "reason", "text";
    }

    /// A call of an MCP tool, or the read of an MCP resource. Its outcome is a document: `refused`
    /// says whether the server refused it, `output` is the structured result of a tool, `contents`
    /// is that of a resource, `meta` is the result's `_meta`, and `error` the error of the request.
    pub struct ToolCall("ToolCall", closed) {
        /// The tool.
        optional name: String = "name", "mcp-tool-name";
        /// Its arguments.
        optional args: Object = "args", "mcp-tool-arguments";
        /// The resource to read instead.
        optional resource: String = "resource", "uri";
        /// The key to send; the run's own if absent.
        optional credential: Credential = "credential", "credential-name";
        /// The expected outcomes, one of which it must be. The first that is met counts.
        required expect: Vec<ToolOutcome> = "expect", "mcp-outcomes";
        /// Codes in a refusal that say that the server cannot do this here: the case does not
        /// apply then.
        optional excused_by: Vec<String> = "excused_by", "failure-codes";
    }

    /// The expected outcome of a call.
    pub struct ToolOutcome("ToolOutcome", closed) {
        /// The outcome.
        required outcome: Object = "outcome", "expectation";
        /// Further checks of it.
        optional checks: Vec<Check> = "checks", "checks";
        /// Variables from it, by JSON pointer.
        optional capture: BTreeMap<String, String> = "capture", "captures";
        /// Whether the case passes with this outcome, without its further moves.
        optional done: bool = "done", "flag";
    }
}

/// A sequence of moves over a channel.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// Variables that are generated for each run of the case.
    pub variables: BTreeMap<String, Generator>,
    /// The moves, in order.
    pub moves: Vec<Move>,
}

/// The socket or the tab that a move is about if it names none.
const MAIN_SOCKET: &str = "main";

impl Move {
    /// The name of the socket or the tab that the move is about.
    pub fn socket(&self) -> &str {
        self.socket.as_deref().unwrap_or(MAIN_SOCKET)
    }

    /// What the move does, each as the name of its member.
    pub fn actions(&self) -> Vec<&'static str> {
        let all = [
            ("setup", self.setup.is_some()),
            ("refused_setup", self.refused_setup.is_some()),
            ("field", self.field.is_some()),
            ("open", self.open.is_some()),
            ("send", self.send.is_some()),
            ("send_text", self.send_text.is_some()),
            ("send_binary", self.send_binary.is_some()),
            ("closed", self.closed.is_some()),
            ("close", self.close.is_some()),
            ("http", self.http.is_some()),
            ("tool", self.tool.is_some()),
            ("browse", self.browse.is_some()),
            // With `closed`, it judges the frames before the close.
            ("expect", self.expect.is_some() && self.closed.is_none()),
        ];
        all.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }

    /// Whether a failure of the move says something about the server.
    pub fn judges(&self) -> bool {
        self.expect.is_some()
            || self.closed.is_some()
            || self.field.is_some()
            || self.refused_setup.is_some()
            || self.tool.is_some()
            || self.browse.as_ref().is_some_and(Browse::judges)
            || self.open.as_ref().is_some_and(|open| open.refused.is_some())
            || self.http.as_ref().is_some_and(|step| !step.prepares())
    }

    /// The route or tool that the move uses.
    pub(crate) fn operation(&self) -> Option<&str> {
        let route = self.http.as_ref().map(|step| step.request.route.as_str());
        route.or_else(|| self.tool.as_ref().map(ToolCall::operation))
    }

    /// The key that the move sends, if not the run's own.
    pub fn credential(&self) -> Option<Credential> {
        let open = self.open.as_ref().and_then(|open| open.credential);
        let http = self.http.as_ref().and_then(|step| step.request.credential);
        open.or(http).or(self.tool.as_ref().and_then(|tool| tool.credential))
    }

    /// Whether the move needs the conformance control of the server.
    pub fn needs_control(&self) -> bool {
        self.setup.is_some() || self.refused_setup.is_some() || self.field.is_some()
    }
}

impl ToolCall {
    /// The tool, or the method that reads resources.
    pub fn operation(&self) -> &str {
        self.name.as_deref().unwrap_or("resources/read")
    }
}

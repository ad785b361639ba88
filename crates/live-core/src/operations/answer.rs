//! Actions of people that have no page.

use accord_api::{Decision, Json, Need, operation, parameter::Acting};
use accord_contract::{Code, Limits, TextForm, Timestamp, Value, message};

use super::{OfSession, at_session, envelope};
use crate::{SessionId, limits::CLIENT_ID_CHARS};

const ACTION: TextForm = TextForm::ANY.chars(1, 256).without_nul();
const CLIENT: TextForm = TextForm::ANY.chars(1, CLIENT_ID_CHARS).without_nul();

message! {
    /// An action of a person.
    pub struct LiveAnswerRequest("LiveAnswerRequest", closed) {
        /// The name of the action in the contract of the session.
        required action: String = "action", "live-action", Limits::text(ACTION);
        /// Its data, which the contract checks.
        optional data: Value = "data", "live-action-data";
        /// A random text of the sender. With `client_seq`, an action that is sent again counts
        /// once.
        optional client_id: String = "client_id", "client-id", Limits::text(CLIENT);
        /// The number that the sender gave the action.
        optional client_seq: u64 = "client_seq", "client-seq";
        /// The `digest` of the session that the person was shown. If the contract has
        /// `x-answeredBy: "person"` or `x-closesOn`, an answer to another question is refused.
        optional expect: String = "expect", "evidence-digest", Limits::text(ACTION);
    }

    /// An action that is recorded.
    pub struct LiveAckAnswer("LiveAckAnswer", open) {
        /// The session.
        required session_id: SessionId = "session_id", "live-session-id";
        /// The name of the action.
        required action: String = "action", "live-action";
        /// Its number in the ledger of the session.
        required sequence: u64 = "sequence", "ledger-seq";
        /// When it was recorded.
        required at: Timestamp = "at", "time:iso-8601";
        /// Whether an agent waits for events of the session now.
        required agent_waits: bool = "agent_waits", "flag";
        /// What is odd about it, and did not stop it: a code, a colon, and a sentence.
        optional warnings: Vec<String> = "warnings", "texts";
    }
}

envelope! {
    /// An action that is recorded.
    LiveAckEnvelope("LiveAckEnvelope") of LiveAckAnswer;
}

operation! {
    /// Records an action of a person in a live session, as the channel does: the contract checks
    /// it, and it is answered when it is durable. With client_id and client_seq, an action that is
    /// sent again counts once.
    pub struct AnswerLiveSession("answer_live_session", Post at_session!("/actions")) of Agentic {
        path OfSession;
        query Acting;
        body Json<LiveAnswerRequest>;
        needs Need::Decide(Decision::Answer);
        answers 200 "The action is recorded.", Json<LiveAckEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::AofPersonRequired,
            Code::XchainConfirmationNeeded,
            Code::NotForWorkers,
            Code::DecisionStale,
            Code::XchainEvidenceChanged,
            Code::LiveAskEnded,
            Code::AgenticProjectArchived,
            Code::GguiSessionNotFound,
            Code::GguiInvalidMessage,
            Code::GguiContractViolation,
            Code::GguiAppendFailed,
        ]];
    }
}

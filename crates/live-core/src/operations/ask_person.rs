//! A question to a person in one call: it begins the question, or goes on waiting for the answer.

use accord_api::parameter::{ACTOR, InProject, Text};
use accord_api::{Json, Need, operation, params};
use accord_base::Actor;
use accord_contract::{Code, Limits, Object, TextForm, Timestamp, Value, message, wire_enum};

use super::{at_live, envelope};
use crate::SessionId;
use crate::limits::{ANSWER_WITHIN_SECONDS, ASK_OPTIONS, ASK_WAIT_SECONDS};

const QUESTION: TextForm = TextForm::ANY.chars(1, 4_000).without_nul();
const OPTION: TextForm = TextForm::ANY.chars(1, 100).without_nul();
const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();

params! {
    /// Who asks.
    #[derive(Default)]
    pub struct AskPersonQuery {
        /// Who asks: `agent:NAME`, `human:NAME`, `script:NAME`. Default: the actor of the key.
        optional actor: Text = ACTOR;
    }
}

wire_enum! {
    /// How far a question is.
    pub enum AskState("LiveAskState", closed) {
        /// Nobody has answered yet. The same call goes on waiting.
        Waiting = "waiting",
        /// A person has answered.
        Answered = "answered",
        /// Nobody answered in time. The same call asks again.
        Expired = "expired",
    }
}

message! {
    /// A question to a person.
    ///
    /// The same request of the same actor about the same work is the same question while it has no
    /// answer that was read. So a request that is repeated goes on waiting, or gets the answer.
    pub struct AskPersonRequest("AskPersonRequest", closed) {
        /// What is asked. The first line is the title; what follows is shown below it as Markdown.
        required question: String = "question", "markdown", Limits::text(QUESTION);
        /// The answers to choose from, each a button. Default, without a form: `yes` and `no`.
        optional options: Vec<String> = "options", "texts", Limits::texts(ASK_OPTIONS, OPTION);
        /// The schema of a form: an object. Without options, the form can be refused.
        optional form: Object = "form", "json-schema";
        /// Whom the question is for, as a hint: `human:NAME`. Others can answer it, too.
        optional to: String = "to", "actor-key", Limits::text(NAME);
        /// How long the question takes answers. Default: a day.
        optional within_seconds: u64 = "within_seconds", "duration:seconds",
            Limits::whole(1, ANSWER_WITHIN_SECONDS);
        /// Names the question. Requests with the same id are the same question, also after its
        /// answer was read, until its session ends.
        optional id: String = "id", "ask-id", Limits::text(NAME);
        /// The task or turn that the question belongs to.
        optional work: String = "work", "work", Limits::text(NAME);
        /// `since` of an earlier answer to the same request. The request goes on waiting for that
        /// question, and gets its answer also if another request has read it meanwhile.
        optional since: Timestamp = "since", "time:iso-8601";
        /// How long to wait for the answer. Default: not at all.
        optional wait_seconds: u64 = "wait_seconds", "duration:seconds",
            Limits::whole(0, ASK_WAIT_SECONDS as i64);
        /// Whether the answer stays unread until `ggui_consume` confirms its `sequence`. Otherwise
        /// it counts as read when the reply is sent.
        optional keep: bool = "keep", "flag";
    }

    /// A question to a person, and the answer if there is one.
    pub struct AskPersonAnswer("AskPersonAnswer", open) {
        /// The session of the question.
        required session_id: SessionId = "session_id", "live-session-id";
        /// How far the question is.
        required state: AskState = "state", "ask-state";
        /// Since when it is asked.
        required since: Timestamp = "since", "time:iso-8601";
        /// Until when it takes answers.
        required until: Timestamp = "until", "time:iso-8601";
        /// Whether the answer is the first option or the form.
        optional accepted: bool = "accepted", "flag";
        /// The option that was chosen; not there if the form was submitted.
        optional option: String = "option", "text";
        /// What was entered in the form.
        optional data: Value = "data", "live-action-data";
        /// Who answered.
        optional by: Actor = "by", "actor";
        /// When.
        optional at: Timestamp = "at", "time:iso-8601";
        /// The number of the answer in the ledger of the session.
        optional sequence: u64 = "sequence", "ledger-seq";
        /// The package in which the memory of the project keeps the answer. There is none if the
        /// project keeps no answers.
        optional package_id: String = "package_id", "package-id";
        /// The address of the page on which a person answers, if the server has one.
        optional page_url: String = "page_url", "url";
    }
}

envelope! {
    /// A question to a person.
    AskPersonEnvelope("AskPersonEnvelope") of AskPersonAnswer;
}

operation! {
    /// Asks a person, or goes on waiting for the answer to the same question. A request that is
    /// cancelled takes no answer: it stays for the next one. A project that does not exist is
    /// created, unless the server forbids it.
    pub struct AskPerson("ask_person", Post at_live!("asks")) of Agentic {
        path InProject;
        query AskPersonQuery;
        body Json<AskPersonRequest>;
        needs Need::Write;
        answers 200 "The question, and the answer if there is one.", Json<AskPersonEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::AgenticInvalidSchema,
            Code::AgenticProjectArchived,
            Code::AgenticProjectNotFound,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::LiveAskConflict,
            Code::LiveTooManyAsks,
            Code::GguiRateLimitExceeded,
            Code::GguiToolContractSchemaInvalid,
            Code::GguiToolContractValidationFailed,
        ]];
    }
}

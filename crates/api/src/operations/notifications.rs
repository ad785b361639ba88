//! What a person is told about the inbox, as the person wants it.

use accord_base::{Decision, Need, ProjectId};
use accord_contract::{Code, Limits, TextForm, envelope, message, wire_enum};

use crate::body::Json;
use crate::operation;
use crate::parameter::Acting;

/// The most rules of a person.
pub const MOST_RULES: usize = 10;
const RULE: TextForm = TextForm::ANY.chars(1, 40).pattern("^[a-z0-9-]*$").example("phone");
const KIND: TextForm = TextForm::ANY.chars(1, 100).without_nul().example("task.review");
const QUIET: TextForm =
    TextForm::ANY.chars(11, 17).pattern("^[0-9:+-]*$").example("22:00-07:00+01:00");
const VERSION: TextForm = TextForm::ANY.chars(1, 64).pattern("^[0-9a-f]*$").example("0a1b2c3d");
const URL: TextForm =
    TextForm::ANY.chars(1, 2048).without_nul().example("https://ntfy.example.org/lead");

wire_enum! {
    /// How a person is told.
    pub enum NotificationFormat("NotificationFormat", closed) {
        /// The document `Notification`, as a POST request.
        Json = "json",
        /// A message to a topic of ntfy.
        Ntfy = "ntfy",
        /// A text for Slack, or for what imitates it.
        Slack = "slack",
        /// A mail to the stored address of the person, by the operator's program.
        Mail = "mail",
    }
}

message! {
    /// What a person is told, and how.
    pub struct NotificationRule("NotificationRule", closed) {
        /// Its name: a to z, 0 to 9 and `-`.
        required name: String = "name", "rule-name", Limits::text(RULE);
        /// Only items of this project. Default: of all that the person may read.
        optional project: ProjectId = "project", "project-id";
        /// Only items of these kinds: `task.review`, or `task.*` for all that begin so.
        optional kinds: Vec<String> = "kinds", "inbox-kinds", Limits::texts(20, KIND);
        /// The least urgent that are told, from 1 to 4. Default: 4.
        optional urgency: u64 = "urgency", "urgency", Limits::whole(1, 4);
        /// When nothing is sent, each day, with the offset of the place: `22:00-07:00+01:00`. It is
        /// sent afterwards, if it still waits.
        optional quiet: String = "quiet", "quiet-hours", Limits::text(QUIET);
        /// How.
        required format: NotificationFormat = "format", "notification-format";
        /// Where to; absent for a mail.
        optional url: String = "url", "url", Limits::text(URL);
    }

    /// Everything that a person is told.
    pub struct NotificationRules("NotificationRules", closed) {
        /// The rules. They replace those of before.
        required rules: Vec<NotificationRule> = "rules", "notification-rules",
            Limits::items(MOST_RULES);
        /// The version of the rules that the client saw. If they are others now, the request is
        /// refused.
        optional expect: String = "expect", "digest", Limits::text(VERSION);
    }
}

envelope! {
    /// What a person is told.
    pub struct NotificationRulesEnvelope("NotificationRulesEnvelope") {
        /// The person.
        required actor: String = "actor", "actor";
        /// The rules.
        required rules: Vec<NotificationRule> = "rules", "notification-rules";
        /// Their version, for `expect`.
        optional version: String = "version", "digest";
    }
}

operation! {
    /// Shows what a person is told about the inbox, and how. Only to that person.
    pub struct ShowNotifications("notifications", Get "/accord/v1/notifications") of Agentic {
        query Acting;
        needs Need::Decide(Decision::PersonAnswer);
        answers 200 "The rules.", Json<NotificationRulesEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::XchainConfirmationNeeded,
            Code::WireFieldMissing,
            Code::WireFieldValue,
        ]];
    }

    /// A person says what to be told about the inbox, and how. A URL is looked up: all of its
    /// addresses must be public, unless the operator permits others.
    pub struct SetNotifications("set_notifications", Put "/accord/v1/notifications") of Agentic {
        query Acting;
        body Json<NotificationRules>;
        needs Need::Decide(Decision::PersonAnswer);
        answers 200 "The rules.", Json<NotificationRulesEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::XchainConfirmationNeeded,
            Code::WireFieldMissing,
            Code::WireFieldValue,
            Code::DecisionStale,
        ]];
    }
}

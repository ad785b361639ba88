//! Who may use a host, and for what: keys, and the caller.

use accord_base::policy::CallerKind;
use accord_base::{ActorKey, Decision, KeyActor, KeyScope, Need, ProjectId, StoredKey, Verb};
use accord_contract::{
    Code, Extensible, Failure, Field, Limits, TextForm, Timestamp, envelope, message, wire_enum,
};

use crate::body::Json;
use crate::parameter::Text;
use crate::{operation, params};

/// The longest label, in characters.
const LONGEST_LABEL: usize = 200;

/// A label. Control characters are refused below: a label is shown in one line.
const LABEL: TextForm =
    TextForm::ANY.chars(1, LONGEST_LABEL).pattern(r"^[^\u0000-\u001f\u007f-\u009f]*$");

params! {
    /// A key.
    pub struct OfKey {
        /// The key's id (not the key itself).
        required key: Text = Text::new("key_id", TextForm::ANY.not_empty());
    }
}

message! {
    /// A request for a new key.
    pub struct KeyRequest("KeyRequest", closed) {
        /// Its label, in one line.
        required label: String = "label", "text-for-people", Limits::text(LABEL);
        /// Its verbs.
        required verbs: Vec<Verb> = "verbs", "verbs", Limits::not_empty();
        /// The projects that it covers; null or absent for all of them.
        nullable projects: Vec<ProjectId> = "projects", "project-ids", Limits::not_empty();
        /// The actor whose key it is.
        nullable actor: KeyActor = "actor", "actor";
        /// Whether it may write as another actor than its own.
        optional act_as: bool = "act_as", "permission";
        /// When it expires; null or absent for never.
        nullable expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }

    /// A key, without the secret.
    pub struct Key("Key", open) {
        /// The id of the key. It is not secret.
        required key_id: String = "key_id", "key-id";
        /// Its label.
        required label: String = "label", "text-for-people";
        /// Its verbs.
        required verbs: Vec<Verb> = "verbs", "verbs";
        /// The projects that it covers; null for all of them.
        required_or_null projects: Vec<ProjectId> = "projects", "project-ids";
        /// The actor whose key it is; null for a key of no particular actor.
        required_or_null actor: KeyActor = "actor", "actor";
        /// Whether it may write as another actor than its own.
        required act_as: bool = "act_as", "permission";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:rfc-3339";
        /// When it expires; null for never.
        required_or_null expires_at: Timestamp = "expires_at", "time:rfc-3339";
        /// When it was revoked; null if it was not.
        required_or_null revoked_at: Timestamp = "revoked_at", "time:rfc-3339";
        /// When it was last used, to about an hour; null for never.
        required_or_null last_used_at: Timestamp = "last_used_at", "time:rfc-3339";
    }
}

envelope! {
    /// All keys.
    pub struct KeyListEnvelope("KeyListEnvelope") {
        /// The keys, oldest first, including revoked ones.
        required keys: Vec<Key> = "keys", "keys-oldest-first";
    }

    /// One key.
    pub struct KeyEnvelope("KeyEnvelope") {
        /// The key, without the secret.
        required key: Key = "key", "key";
        /// The key itself. Only the answer that creates the key contains it.
        optional secret: String = "secret", "credential";
    }
}

wire_enum! {
    /// The kinds of callers.
    pub enum CallerName("CallerKind", closed) {
        /// A person who signed in on a page.
        Login = "login",
        /// The key of a person.
        PersonKey = "person_key",
        /// A key that may act as others.
        ActAsKey = "act_as_key",
        /// The key of an agent or a script.
        AgentKey = "agent_key",
        /// A key without an actor.
        PlainKey = "plain_key",
        /// The bearer of a token of a live session.
        SessionToken = "session_token",
        /// A process of the same user, without a key.
        LocalProcess = "local_process",
        /// A process of another user of the operating system, without a key.
        OtherUser = "other_user",
        /// A process that a worker started.
        Worker = "worker",
        /// The scheduler of the host.
        Scheduler = "scheduler",
        /// A process that has ended, or that the system does not show.
        Unexamined = "unexamined",
    }
}

envelope! {
    /// Who the caller is to the host.
    pub struct MeEnvelope("MeEnvelope") {
        /// What kind of caller it is.
        required caller: Extensible<CallerName> = "caller", "caller-kind";
        /// The actor in whose name the caller writes unless it names one; null if there is none.
        required_or_null actor: KeyActor = "actor", "actor";
        /// Whether it may write as another actor.
        required act_as: bool = "act_as", "permission";
        /// Its verbs.
        required verbs: Vec<Extensible<Verb>> = "verbs", "verbs";
        /// The projects that it may use; null for all of them.
        required_or_null projects: Vec<ProjectId> = "projects", "project-ids";
    }
}

operation! {
    /// Says who the caller is to the server, and what it may do.
    pub struct Me("me", Get "/accord/v1/me") of Agentic {
        needs Need::Read;
        answers 200 "The caller.", Json<MeEnvelope>;
        refuses [];
    }

    /// Lists the keys, without their secrets.
    pub struct ListKeys("keys", Get "/accord/v1/keys") of Agentic {
        needs Need::Admin;
        answers 200 "The keys.", Json<KeyListEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied]];
    }

    /// Creates a key. Once a key exists, requests from the network need one.
    pub struct CreateKey("create_key", Post "/accord/v1/keys") of Agentic {
        body Json<KeyRequest>;
        needs Need::Decide(Decision::Grant);
        answers 201 "The key. Its secret is shown only this once.", Json<KeyEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::WireFieldValue,
            Code::NotForWorkers,
        ]];
    }

    /// Revokes a key permanently. Other hosts on the same store refuse it within a second.
    pub struct RevokeKey("revoke_key", Delete "/accord/v1/keys/{key_id}") of Agentic {
        path OfKey;
        needs Need::Admin;
        answers 200 "The revoked key.", Json<KeyEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied, Code::KeyNotFound]];
    }
}

impl KeyRequest {
    /// The stored part of the key. Fails when its label has a control character, or when its actor
    /// looks like another one.
    pub fn into_stored(self) -> Result<StoredKey, Failure> {
        if self.label.chars().any(char::is_control) {
            let message = format!("a label has 1 to {LONGEST_LABEL} characters, in one line");
            return Err(Failure::new(Code::WireFieldValue, message).at("/label"));
        }
        let mut scope = KeyScope::new(self.verbs, into_option(self.projects));
        scope.actor = into_option(self.actor);
        if let Some(KeyActor { id, kind }) = scope.actor.clone() {
            let checked = ActorKey { id, kind }.check_distinct();
            checked.map_err(|why| Failure::new(Code::WireFieldValue, why).at("/actor"))?;
        }
        scope.act_as = self.act_as.unwrap_or(false);
        let expires_at = into_option(self.expires_at);
        Ok(StoredKey::new(self.label, scope, expires_at))
    }
}

impl From<&CallerKind> for CallerName {
    fn from(kind: &CallerKind) -> Self {
        match kind {
            CallerKind::Login => Self::Login,
            CallerKind::PersonKey => Self::PersonKey,
            CallerKind::ActAsKey { .. } => Self::ActAsKey,
            CallerKind::AgentKey => Self::AgentKey,
            CallerKind::PlainKey => Self::PlainKey,
            CallerKind::SessionToken => Self::SessionToken,
            CallerKind::LocalProcess { .. } | CallerKind::Hub(_) | CallerKind::Loopback => {
                Self::LocalProcess
            }
            CallerKind::OtherUser => Self::OtherUser,
            CallerKind::Worker(_) => Self::Worker,
            CallerKind::Scheduler => Self::Scheduler,
            CallerKind::Unexamined => Self::Unexamined,
        }
    }
}

fn into_option<T>(field: Field<T>) -> Option<T> {
    match field {
        Field::Value(value) => Some(value),
        Field::Null | Field::Absent => None,
    }
}

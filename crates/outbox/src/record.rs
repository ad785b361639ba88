//! What the hub stores about an edge.

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::{Edge, EdgeJoinRequest, EdgeRun, EdgeSend, EdgeSource};
use accord_base::{Caller, EdgeId};
use accord_contract::{Code, Failure, Timestamp, message};

message! {
    /// What the hub stores about an edge, beside its position.
    pub struct EdgeRecord("EdgeRecord", open) {
        /// Its name for people.
        required name: String = "name", "text-for-people";
        /// What it is.
        required source: EdgeSource = "source", "edge-source";
        /// What it sends.
        required send: EdgeSend = "send", "edge-send";
        /// The key that joined it; null on a hub without keys.
        required_or_null key_id: String = "key_id", "key-id";
        /// The actor of the key.
        required_or_null actor: String = "actor", "actor";
        /// When it joined.
        required joined_at: Timestamp = "joined_at", "time:rfc-3339";
        /// When the hub last heard of it.
        required last_contact_at: Timestamp = "last_contact_at", "time:rfc-3339";
        /// When it left.
        required_or_null left_at: Timestamp = "left_at", "time:rfc-3339";
        /// The number of entries that the edge could not send any more.
        required lost: u64 = "lost", "count";
        /// The digest of the entry at the position.
        optional last_digest: String = "last_digest", "digest";
        /// What the hub may decide.
        optional decide: Vec<EdgeDecidable> = "decide", "edge-decidables";
        /// The persons who may decide that.
        optional deciders: Vec<String> = "deciders", "actors";
        /// The newest run of a governed repository.
        optional run: EdgeRun = "run", "edge-run";
    }
}

impl EdgeRecord {
    /// The record of an edge that joins now.
    pub fn joined(request: &EdgeJoinRequest, caller: &Caller, now: Timestamp) -> Self {
        let actor = caller.access().actor();
        Self {
            name: request.name.clone(),
            source: request.source,
            send: request.send,
            key_id: caller.key_id().map(str::to_owned),
            actor: actor.map(|actor| format!("{}:{}", actor.kind, actor.id)),
            joined_at: now.clone(),
            last_contact_at: now,
            left_at: None,
            lost: 0,
            last_digest: None,
            decide: request.decide.clone(),
            deciders: request.deciders.clone(),
            run: None,
            extra: Default::default(),
        }
    }

    /// The record of a known edge that joins again. Its source stays.
    pub fn joined_again(self, request: &EdgeJoinRequest, caller: &Caller, now: Timestamp) -> Self {
        let new = Self::joined(request, caller, now);
        Self {
            name: new.name,
            send: new.send,
            key_id: new.key_id,
            actor: new.actor,
            last_contact_at: new.last_contact_at,
            left_at: None,
            decide: new.decide,
            deciders: new.deciders,
            ..self
        }
    }

    /// Refuses a caller with another key than the one that joined the edge.
    pub fn check_key(&self, caller: &Caller) -> Result<(), Failure> {
        match self.key_id.as_deref() == caller.key_id() {
            true => Ok(()),
            false => {
                let message = "another key joined this edge";
                Err(Failure::new(Code::EdgeOfAnotherKey, message).suggesting(
                    "use that key, or join the work tree as a new edge: accord join --new",
                ))
            }
        }
    }

    /// As [`Self::check_key`], and accepts another key of the same actor, which replaces the first.
    pub fn check_actor(&self, caller: &Caller) -> Result<(), Failure> {
        let actor = caller.access().actor();
        let actor = actor.map(|actor| format!("{}:{}", actor.kind, actor.id));
        match self.actor.is_some() && self.actor == actor {
            true => Ok(()),
            false => self.check_key(caller),
        }
    }

    /// The edge as the hub shows it.
    pub fn shown(self, edge_id: EdgeId, position: u64, requests: u64) -> Edge {
        Edge {
            edge_id,
            name: self.name,
            source: self.source,
            send: self.send,
            joined_by: self.actor,
            joined_at: self.joined_at,
            last_contact_at: self.last_contact_at,
            left_at: self.left_at,
            position,
            lost: self.lost,
            requests,
            decide: self.decide,
            deciders: self.deciders,
            run: self.run,
            extra: Default::default(),
        }
    }
}

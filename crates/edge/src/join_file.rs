//! What is known about a joined work tree.

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::{EdgeSend, EdgeSource};
use accord_base::{EdgeId, ProjectId};
use accord_contract::{Timestamp, message};
use accord_system::random;

use crate::place::Place;

message! {
    /// A joined work tree.
    pub struct JoinFile("EdgeJoinFile", open) {
        /// The id of the edge.
        required edge_id: EdgeId = "edge_id", "edge-id";
        /// The URL of the hub.
        required url: String = "url", "url";
        /// The project of the hub.
        required project: ProjectId = "project", "project-id";
        /// The key for the hub.
        optional key: String = "key", "credential";
        /// What the work tree is.
        required source: EdgeSource = "source", "edge-source";
        /// Its name for people.
        required name: String = "name", "text-for-people";
        /// What is sent.
        required send: EdgeSend = "send", "edge-send";
        /// Files whose names and content are not sent.
        required exclude: Vec<String> = "exclude", "path-patterns";
        /// What the hub may decide.
        optional decide: Vec<EdgeDecidable> = "decide", "edge-decidables";
        /// The persons who may decide that.
        optional deciders: Vec<String> = "deciders", "actors";
        /// Whether the hub, on this machine and as this user, may read the repository and stage
        /// results in it.
        optional open_to_hub: bool = "open_to_hub", "flag";
        /// Makes the digest of files that are not named one that cannot be guessed.
        optional salt: String = "salt", "text";
        /// Its folder.
        required root: String = "root", "path";
        /// The device of the folder.
        required device: u64 = "device", "device";
        /// The inode of the folder.
        required inode: u64 = "inode", "inode";
        /// When the folder was made, in milliseconds since 1970, where the file system says it.
        /// The next folder with the same inode has another time.
        optional created: u64 = "created", "milliseconds";
        /// When it was joined.
        required joined_at: Timestamp = "joined_at", "time:rfc-3339";
        /// How many events and results there were before.
        required before: u64 = "before", "count";
    }

    /// How far the hub is, as this edge last learned. It only shows where to begin.
    pub(crate) struct SentFile("EdgeSentFile", open) {
        /// The position of the hub.
        required position: u64 = "position", "sequence";
        /// The incarnation of the hub.
        required incarnation: String = "incarnation", "store-incarnation";
        /// When the hub answered last.
        required at: Timestamp = "at", "time:rfc-3339";
        /// Why nothing could be sent since.
        optional trouble: String = "trouble", "text";
    }
}

/// What a person chooses.
#[derive(Clone, Debug)]
pub struct Joining {
    pub url: String,
    pub project: ProjectId,
    pub key: Option<String>,
    pub name: String,
    pub send: EdgeSend,
    pub exclude: Vec<String>,
    /// What the hub may decide, and who.
    pub decide: Vec<EdgeDecidable>,
    pub deciders: Vec<String>,
    /// Whether the hub, on this machine, may read the repository and stage results in it.
    pub open_to_hub: bool,
}

impl JoinFile {
    pub(crate) fn new(
        edge_id: EdgeId,
        joining: Joining,
        source: EdgeSource,
        place: &Place,
        now: Timestamp,
    ) -> Self {
        Self {
            edge_id,
            url: joining.url,
            project: joining.project,
            key: joining.key,
            source,
            name: joining.name,
            send: joining.send,
            exclude: joining.exclude,
            decide: Some(joining.decide),
            deciders: Some(joining.deciders),
            open_to_hub: Some(joining.open_to_hub),
            salt: Some(accord_base::mint_id("salt_", random())),
            root: place.root.clone(),
            device: place.device,
            inode: place.inode,
            created: place.created,
            joined_at: now,
            before: 0,
            extra: Default::default(),
        }
    }

    /// Whether the hub may decide about a request of a type.
    pub fn lets_decide(&self, type_name: &str) -> bool {
        self.decide.iter().flatten().any(|kind| kind.as_str() == type_name)
    }

    pub(crate) fn is_at(&self, place: &Place) -> bool {
        self.root == place.root && self.is_same_folder(place)
    }

    /// The same join, of a folder.
    #[must_use]
    pub(crate) fn in_place(self, place: Place) -> Self {
        let Place { root, device, inode, created } = place;
        Self { root, device, inode, created, ..self }
    }

    pub(crate) fn is_noted(&self, place: &Place) -> bool {
        self.is_at(place) && (self.device, self.created) == (place.device, place.created)
    }

    /// Whether it is the folder that was joined, also if it was moved within its file system. The
    /// number of a device can change when the machine starts, and an inode is used again.
    pub(crate) fn is_same_folder(&self, place: &Place) -> bool {
        self.inode == place.inode
            && match (self.created, place.created) {
                (Some(joined), Some(found)) => joined == found,
                _ => self.device == place.device || self.root == place.root,
            }
    }

    /// Whether the folder that was joined is still where it was.
    pub(crate) fn is_still_there(&self) -> bool {
        Place::of(self.root.as_ref()).is_ok_and(|place| self.is_same_folder(&place))
    }
}

//! Maintenance: status, backups, deletion of old events and unused blobs.

use accord_base::{Need, ProjectId};
use accord_contract::{Code, Timestamp, envelope, message, wire_enum};

use crate::body::Json;
use crate::operation;

wire_enum! {
    /// Whether the embeddings server works.
    pub enum EmbeddingState("EmbeddingState", closed) {
        /// It was not asked yet.
        Unknown = "unknown",
        /// The last request succeeded.
        Up = "up",
        /// It cannot be used. Searches are by words alone.
        Down = "down",
    }
}

message! {
    /// The status of search by meaning.
    pub struct EmbeddingStatus("EmbeddingStatus", open) {
        /// The model.
        required model: String = "model", "name";
        /// Whether the server works.
        required state: EmbeddingState = "state", "state";
        /// Packages that wait for their vectors.
        required waiting: u64 = "waiting", "count";
        /// Packages that got vectors since the start.
        required made: u64 = "made", "count";
        /// Failed requests since the start.
        required failures: u64 = "failures", "count";
        /// The last failure. Only for keys with `admin`.
        optional last_error: String = "last_error", "text-for-people";
        /// When it happened.
        optional last_error_at: Timestamp = "last_error_at", "time:rfc-3339";
    }
}

envelope! {
    /// The status of a host.
    pub struct StatusEnvelope("StatusEnvelope") {
        /// The version of Accord.
        required version: String = "version", "version";
        /// The format of the store.
        required store_format: u64 = "store_format", "number";
        /// Jobs that the store has executed since the start.
        required store_jobs: u64 = "store_jobs", "count";
        /// Commits since the start; one commit can contain several jobs.
        required store_commits: u64 = "store_commits", "count";
        /// Jobs that wait for the store.
        required store_waiting: u64 = "store_waiting", "count";
        /// Connections that are open from the network.
        required connections: u64 = "connections", "count";
        /// Event streams that are open.
        required event_streams: u64 = "event_streams", "count";
        /// Whether requests from the network need a key.
        required keys_required: bool = "keys_required", "flag";
        /// The status of search by meaning, if an embeddings server is set.
        optional embeddings: EmbeddingStatus = "embeddings", "status";
    }
}

message! {
    /// Where to write a backup.
    pub struct BackupRequest("BackupRequest", closed) {
        /// The absolute path of a folder on the server's machine. It must be empty or not exist.
        required to: String = "to", "path";
    }
}

envelope! {
    /// A backup that was written.
    pub struct BackupEnvelope("BackupEnvelope") {
        /// The folder.
        required to: String = "to", "path";
        /// Its size.
        required bytes: u64 = "bytes", "bytes";
        /// The number of blobs in it.
        required blobs: u64 = "blobs", "count";
    }
}

message! {
    /// Which events to delete. Exactly one of `events_before` and `days` is required.
    pub struct TrimRequest("TrimRequest", closed) {
        /// Events before this time or day.
        optional events_before: String = "events_before", "time:rfc-3339";
        /// Events older than this many days.
        optional days: u64 = "days", "count";
        /// Only count them.
        optional dry_run: bool = "dry_run", "flag";
    }

    /// The deleted events of a project.
    pub struct TrimmedProject("TrimmedProject", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// The number of events.
        required events: u64 = "events", "count";
        /// The oldest remaining event.
        required oldest: u64 = "oldest", "sequence";
    }
}

envelope! {
    /// What was deleted, or would be.
    pub struct TrimEnvelope("TrimEnvelope") {
        /// Whether the events were only counted.
        required dry_run: bool = "dry_run", "flag";
        /// The number of events.
        required events: u64 = "events", "count";
        /// The projects that they belonged to.
        required projects: Vec<TrimmedProject> = "projects", "projects";
    }
}

message! {
    /// Which blobs to delete, among those that no package and no fact refers to.
    pub struct SweepRequest("SweepRequest", closed) {
        /// Blobs that were stored more than this many days ago.
        required days: u64 = "days", "count";
        /// Only count them.
        optional dry_run: bool = "dry_run", "flag";
    }
}

envelope! {
    /// What was deleted, or would be.
    pub struct SweepEnvelope("SweepEnvelope") {
        /// Whether the blobs were only counted.
        required dry_run: bool = "dry_run", "flag";
        /// The number of links from projects to blobs that nothing in the project refers to.
        required links: u64 = "links", "count";
        /// The number of files that no project links to any more.
        required files: u64 = "files", "count";
        /// Their total size.
        required bytes: u64 = "bytes", "bytes";
    }
}

operation! {
    /// Returns the server's version and status.
    pub struct Status("status", Get "/accord/v1/status") of Agentic {
        needs Need::Read;
        answers 200 "The status.", Json<StatusEnvelope>;
        refuses [&[Code::AccessDenied]];
    }

    /// Copies the data folder while the server runs. Only through the socket in the data folder.
    pub struct BackUp("backup", Post "/accord/v1/store/backup") of Agentic {
        body Json<BackupRequest>;
        needs Need::Admin;
        answers 200 "The backup is written.", Json<BackupEnvelope>;
        refuses [&[
            Code::NotForWorkers,
            Code::HostOwnerOnly,
            Code::StoreOccupied,
            Code::StoreFull,
        ]];
    }

    /// Deletes old events. Packages and facts stay.
    pub struct TrimEvents("trim", Post "/accord/v1/store/trim") of Agentic {
        body Json<TrimRequest>;
        needs Need::Admin;
        answers 200 "What was deleted.", Json<TrimEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied, Code::WireFieldValue]];
    }

    /// Deletes old blobs that no package and no fact refers to.
    pub struct SweepBlobs("sweep", Post "/accord/v1/store/sweep") of Agentic {
        body Json<SweepRequest>;
        needs Need::Admin;
        answers 200 "What was deleted.", Json<SweepEnvelope>;
        refuses [&[Code::NotForWorkers], &[
            Code::AccessDenied,
            Code::AgenticNotImplemented,
            Code::AgenticIntegrityError,
        ]];
    }
}

//! Maintenance over HTTP: status, backups, deletion of old events and unused blobs.

use std::path::PathBuf;

use accord_base::{Need, Verb};
use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::{envelope, message};
use accord_memory::{EmbeddingStatus, Sweep, Trim, TrimmedProject};
use hyper::StatusCode;

use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::{Context, Reply};
use crate::upkeep;
use accord_serving::alx_envelope;
use accord_serving::table::Content;

envelope! {
    /// The status of a host.
    pub(crate) struct StatusEnvelope("StatusEnvelope") {
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
    pub(crate) struct BackupRequest("BackupRequest", closed) {
        /// The absolute path of a folder on the server's machine. It must be empty or not exist.
        required to: String = "to", "path";
    }
}

envelope! {
    /// A backup that was written.
    pub(crate) struct BackupEnvelope("BackupEnvelope") {
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
    pub(crate) struct TrimRequest("TrimRequest", closed) {
        /// Events before this time or day.
        optional events_before: String = "events_before", "time:rfc-3339";
        /// Events older than this many days.
        optional days: u64 = "days", "count";
        /// Only count them.
        optional dry_run: bool = "dry_run", "flag";
    }
}

envelope! {
    /// What was deleted, or would be.
    pub(crate) struct TrimEnvelope("TrimEnvelope") {
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
    pub(crate) struct SweepRequest("SweepRequest", closed) {
        /// Blobs that were stored more than this many days ago.
        required days: u64 = "days", "count";
        /// Only count them.
        optional dry_run: bool = "dry_run", "flag";
    }
}

envelope! {
    /// What was deleted, or would be.
    pub(crate) struct SweepEnvelope("SweepEnvelope") {
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

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "status",
            "/accord/v1/status",
            "Returns the server's version and status.",
            status,
        )
        .answers(200, "The status.", Content::json::<StatusEnvelope>())
        .refuses(&[Code::AgenticUnauthorized]),
        Route::post(
            "backup",
            "/accord/v1/store/backup",
            "Copies the data folder while the server runs. Only through the socket in the data \
             folder.",
            backup,
        )
        .needs(Need::Admin)
        .takes(Content::json::<BackupRequest>())
        .answers(200, "The backup is written.", Content::json::<BackupEnvelope>())
        .refuses(&[Code::HostOwnerOnly, Code::StoreOccupied, Code::StoreFull]),
        Route::post(
            "trim",
            "/accord/v1/store/trim",
            "Deletes old events. Packages and facts stay.",
            trim,
        )
        .needs(Need::Admin)
        .takes(Content::json::<TrimRequest>())
        .answers(200, "What was deleted.", Content::json::<TrimEnvelope>())
        .refuses(&[Code::AgenticUnauthorized, Code::WireFieldValue]),
        Route::post(
            "sweep",
            "/accord/v1/store/sweep",
            "Deletes old blobs that no package and no fact refers to.",
            sweep,
        )
        .needs(Need::Admin)
        .takes(Content::json::<SweepRequest>())
        .answers(200, "What was deleted.", Content::json::<SweepEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::AgenticNotImplemented,
            Code::AgenticIntegrityError,
        ]),
    ]
}

async fn status(Context { host, caller, correlation }: Context) -> Reply {
    caller.access().may_anywhere(Verb::Read)?;
    let statistics = host.engine().statistics();
    let connections = host.connections().taken();
    let mut embeddings = host.memory().embedding_status().await?;
    // The error names the server, which is the operator's business.
    if caller.access().may_anywhere(Verb::Admin).is_err()
        && let Some(embeddings) = &mut embeddings
    {
        embeddings.last_error = None;
    }
    let envelope = alx_envelope!(
        correlation,
        StatusEnvelope {
            version: env!("CARGO_PKG_VERSION").into(),
            store_format: host.engine().format().into(),
            store_jobs: statistics.jobs,
            store_commits: statistics.commits,
            store_waiting: statistics.waiting as u64,
            connections: connections as u64,
            event_streams: host.streams().open() as u64,
            keys_required: host.keys().required().await?,
            embeddings,
        }
    );
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn backup(Context { host, caller, correlation }: Context, document: Document) -> Reply {
    // A key is not enough, not even with `admin`: it would let a client on the network write
    // wherever the server can.
    if !caller.is_owner() {
        let message = "only the owner of the data folder may name files on this machine";
        return Err(Failure::new(Code::HostOwnerOnly, message).into());
    }
    let BackupRequest { to } = document.read()?;
    let folder = PathBuf::from(&to);
    let copying = accord_system::spawn_blocking(move || upkeep::backup(&host, &folder));
    let copied = copying.await.unwrap_or_else(|_| {
        let message = "the backup was interrupted";
        Err(Failure::new(Code::HttpFault, message))
    })?;
    let envelope =
        alx_envelope!(correlation, BackupEnvelope { to, bytes: copied.bytes, blobs: copied.blobs });
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn trim(Context { host, caller, correlation }: Context, document: Document) -> Reply {
    let request: TrimRequest = document.read()?;
    let asked = Trim {
        before: request.before(host.memory().now())?,
        project: None,
        dry_run: request.dry_run.unwrap_or(false),
    };
    let report = host.memory().trim_events(&caller, &asked).await?;
    let envelope = alx_envelope!(
        correlation,
        TrimEnvelope { dry_run: report.dry_run, events: report.events, projects: report.projects }
    );
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn sweep(Context { host, caller, correlation }: Context, document: Document) -> Reply {
    let request: SweepRequest = document.read()?;
    let asked = Sweep {
        before: days_ago(host.memory().now(), request.days),
        dry_run: request.dry_run.unwrap_or(false),
    };
    let report = host.memory().sweep_blobs(&caller, &asked).await?;
    let envelope = alx_envelope!(
        correlation,
        SweepEnvelope {
            dry_run: report.dry_run,
            links: report.links,
            files: report.files,
            bytes: report.bytes,
        }
    );
    Ok(encoded(StatusCode::OK, &envelope))
}

impl TrimRequest {
    /// The time before which events are deleted.
    fn before(&self, now: Time) -> Result<Time, Failure> {
        match (&self.events_before, self.days) {
            (Some(before), None) => Time::parse_or_date(before).map_err(|error| {
                let message = format!("{before:?}: {error}");
                Failure::new(Code::WireFieldValue, message).at("/events_before")
            }),
            (None, Some(days)) => Ok(days_ago(now, days)),
            _ => {
                let message = "exactly one of events_before and days is required";
                Err(Failure::new(Code::WireFieldValue, message).at(""))
            }
        }
    }
}

fn days_ago(now: Time, days: u64) -> Time {
    now.days_before(u32::try_from(days).unwrap_or(u32::MAX))
}

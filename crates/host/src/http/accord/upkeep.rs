//! Maintenance over HTTP: status, backups, deletion of old events and unused blobs.

use std::path::PathBuf;

use accord_api::operations::upkeep::{
    BackUp, BackupEnvelope, BackupRequest, Status, StatusEnvelope, SweepBlobs, SweepEnvelope,
    TrimEnvelope, TrimEvents, TrimRequest,
};
use accord_api::{Call, Json};
use accord_base::Verb;
use accord_contract::{Code, Failure, Time};
use accord_memory::{Sweep, Trim};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;
use hyper::StatusCode;

use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::{Context, Reply, Route};
use crate::upkeep;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(status),
        // Whose request it is is checked before what it says.
        Route::serving::<BackUp, _>(backup),
        serve(trim),
        serve(sweep),
    ]
}

async fn status(
    Context { host, caller, correlation }: Context,
    _: Call<Status>,
) -> Result<Json<StatusEnvelope>, Failure> {
    caller.access().may_anywhere(Verb::Read)?;
    let (statistics, connections) = (host.engine().statistics(), host.connections().taken());
    let mut embeddings = host.memory().embedding_status().await?;
    // The error names the server, which is the operator's business.
    if caller.access().may_anywhere(Verb::Admin).is_err()
        && let Some(embeddings) = &mut embeddings
    {
        embeddings.last_error = None;
    }
    Ok(Json(alx_envelope!(
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
    )))
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
    let interrupted = |_| Err(Failure::new(Code::HttpFault, "the backup was interrupted"));
    let copied = copying.await.unwrap_or_else(interrupted)?;
    let envelope =
        alx_envelope!(correlation, BackupEnvelope { to, bytes: copied.bytes, blobs: copied.blobs });
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn trim(
    Context { host, caller, correlation }: Context,
    call: Call<TrimEvents>,
) -> Result<Json<TrimEnvelope>, Failure> {
    let request = call.body.0;
    let dry_run = request.dry_run.unwrap_or(false);
    let asked = Trim { before: before(&request, host.memory().now())?, project: None, dry_run };
    let report = host.memory().trim_events(&caller, &asked).await?;
    let (events, projects) = (report.events, report.projects);
    Ok(Json(alx_envelope!(correlation, TrimEnvelope { dry_run, events, projects })))
}

async fn sweep(
    Context { host, caller, correlation }: Context,
    call: Call<SweepBlobs>,
) -> Result<Json<SweepEnvelope>, Failure> {
    let request = call.body.0;
    let dry_run = request.dry_run.unwrap_or(false);
    let asked = Sweep { before: days_ago(host.memory().now(), request.days), dry_run };
    let report = host.memory().sweep_blobs(&caller, asked).await?;
    let (links, files, bytes) = (report.links, report.files, report.bytes);
    Ok(Json(alx_envelope!(correlation, SweepEnvelope { dry_run, links, files, bytes })))
}

/// The time before which events are deleted.
fn before(request: &TrimRequest, now: Time) -> Result<Time, Failure> {
    match (&request.events_before, request.days) {
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

fn days_ago(now: Time, days: u64) -> Time {
    now.days_before(u32::try_from(days).unwrap_or(u32::MAX))
}

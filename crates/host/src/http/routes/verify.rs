//! Verification of the store.

use accord_base::{Need, ProjectId, Verb};
use accord_contract::codes::Code;
use accord_contract::wire::Wire as _;
use accord_contract::{envelope, message};
use accord_memory::{Verify, VerifyReport, VerifyStep};
use hyper::{HeaderMap, StatusCode};

use super::progress::{self, ProgressSender};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::{Context, Reply};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

message! {
    /// What to verify.
    pub struct VerifyRequest("VerifyRequest", closed) {
        /// Only this project; default: the whole store.
        optional project_id: ProjectId = "project_id", "project-id";
        /// Whether to quarantine damaged packages and release valid ones; default true.
        optional quarantine: bool = "quarantine", "flag";
    }
}

envelope! {
    /// The result of a verification.
    pub struct VerifyEnvelope("VerifyEnvelope") {
        /// What was found.
        required report: VerifyReport = "report", "report";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "verify",
            "/accord/v1/verify",
            "Verifies a project or the whole store: hashes, logs, facts, events, blobs, and \
             derived data. Damaged packages are quarantined. A client that accepts \
             application/x-ndjson gets lines of the kinds progress and problem, and at the end one \
             of the kind summary or failure.",
            verify,
        )
        .needs(Need::Admin)
        .takes(Content::json::<VerifyRequest>())
        .answers(200, "What was found.", Content::json::<VerifyEnvelope>())
        .answers(200, progress::ABOUT, Content::Lines)
        .refuses(&[Code::AgenticUnauthorized, Code::AgenticProjectNotFound]),
    ]
}

async fn verify(
    Context { host, caller, correlation }: Context,
    headers: HeaderMap,
    document: Document,
) -> Reply {
    caller.access().may_anywhere(Verb::Admin)?;
    let asked: VerifyRequest = document.read()?;
    let asked = Verify { project: asked.project_id, quarantine: asked.quarantine.unwrap_or(true) };
    let memory = host.memory().clone();
    if progress::is_wanted(&headers) {
        return Ok(progress::answer(|progress| async move {
            let report_progress = move |step| tell(&progress, step);
            let report = memory.verify(&caller, asked, report_progress).await?;
            Ok(report.encode())
        }));
    }
    let report = memory.verify(&caller, asked, |_| {}).await?;
    let envelope = alx_envelope!(correlation, VerifyEnvelope { report });
    Ok(encoded(StatusCode::OK, &envelope))
}

fn tell(progress: &ProgressSender, step: VerifyStep) {
    match step {
        VerifyStep::Progress { done, total } => progress.progress(done, total),
        VerifyStep::Problem(problem) => progress.send("problem", problem.encode()),
    }
}

//! Verification of the store.

use accord_api::Call;
use accord_base::Verb;
use accord_contract::Wire as _;
use accord_memory::{Verify, VerifyStep};
use accord_memory_core::operations::{VerifyEnvelope, VerifyRequest, VerifyStore};
use accord_serving::alx_envelope;
use accord_serving::operation::serve_response;
use hyper::StatusCode;

use super::progress::{self, ProgressSender};
use crate::{Context, Exchange, Route};
use accord_serving::Reply;
use accord_serving::body::Document;
use accord_serving::reply::encoded;

pub fn routes() -> Vec<Route> {
    vec![serve_response(verify)]
}

async fn verify(exchange: Exchange, _: Call<VerifyStore>) -> Reply {
    let Context { host, caller, correlation } = exchange.context;
    caller.access().may_anywhere(Verb::Admin)?;
    let asked: VerifyRequest = Document(exchange.body).read()?;
    let asked = Verify { project: asked.project_id, quarantine: asked.quarantine.unwrap_or(true) };
    let memory = host.memory().clone();
    if progress::is_wanted(&exchange.headers) {
        return Ok(progress::answer(|progress| async move {
            let report_progress = move |step| tell(&progress, step);
            Ok(memory.verify(&caller, asked, report_progress).await?.encode())
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

//! Answering what a live session asks.

use accord_api::{Call, Envelope as _, Json, Operation as _};
use accord_contract::{Code, Failure};
use accord_live_core::operations::answer::{AnswerLiveSession, LiveAckEnvelope};

use super::app_of;
use crate::Context;
use accord_serving::acting::Who;

pub(super) async fn answer(
    Context { host, caller, correlation }: Context,
    Call { path, query, body }: Call<AnswerLiveSession>,
) -> Result<Json<LiveAckEnvelope>, Failure> {
    let (who, need) = (Who::of(&caller, query), AnswerLiveSession::NEED);
    let by = who.acting(&caller, &path.project, need, None)?;
    let app = app_of(&path.project)?;
    let answered = host.live().answer(&caller, &app, &path.session, body.0, by).await;
    Ok(Json(LiveAckEnvelope::wrap(answered.map_err(with_help)?, correlation.as_str())))
}

/// A refusal says how to find the names and schemas of the actions.
fn with_help(failure: Failure) -> Failure {
    match failure.code {
        Code::GguiContractViolation => failure
            .suggesting("read the session: session.actionSpec has the actions with their schemas"),
        _ => failure,
    }
}

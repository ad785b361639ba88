//! Decisions of people over HTTP.

use accord_api::operations::decisions::{
    DecisionListEnvelope, ListDecisions, TakeOverDecisions, TakenOverEnvelope,
};
use accord_api::{Call, Json};
use accord_memory::{DecisionPage, TakenDecisions};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ListDecisions>| {
            let project = &call.path.project;
            let page = host.memory().decisions(&caller, project, call.query).await?;
            let DecisionPage { decisions, next_cursor, damaged } = page;
            let damaged = (!damaged.is_empty()).then_some(damaged);
            Ok(Json(alx_envelope!(
                correlation,
                DecisionListEnvelope { decisions, next_cursor, damaged }
            )))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<TakeOverDecisions>| {
            let (project, request) = (&call.path.project, call.body.0);
            let done = host.memory().take_over_decisions(&caller, project, request).await?;
            let TakenDecisions { taken, known } = done;
            Ok(Json(alx_envelope!(correlation, TakenOverEnvelope { taken, known })))
        }),
    ]
}

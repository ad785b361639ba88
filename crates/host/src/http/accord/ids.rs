//! The ids that begin with a text.

use accord_api::{Call, Json};
use accord_contract::Object;
use accord_memory_core::operations::{FindIds, IdsEnvelope, MatchingId};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![serve(async |Context { host, caller, correlation }, call: Call<FindIds>| {
        let found = host.memory().ids(&caller, call.query).await?;
        let ids = found.ids.into_iter().map(|(project, id)| MatchingId {
            id,
            project_id: project.into_string(),
            extra: Object::new(),
        });
        let (ids, more) = (ids.collect(), found.more);
        Ok(Json(alx_envelope!(correlation, IdsEnvelope { ids, more })))
    })]
}

//! The ids that begin with a text.

use accord_contract::codes::Code;
use accord_contract::wire::Object;
use accord_contract::{envelope, message};
use accord_memory_core::query::{ID_KIND, IdQuery, PREFIX, PROJECT_ID};
use hyper::StatusCode;

use crate::http::Route;
use crate::http::reply::encoded;
use crate::http::routes::Query;
use crate::http::{Context, Reply};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

message! {
    /// An id.
    pub(crate) struct MatchingId("MatchingId", open) {
        /// The id.
        required id: String = "id", "id";
        /// Its project.
        required project_id: String = "project_id", "project-id";
    }
}

envelope! {
    /// Ids that begin with a text.
    pub(crate) struct IdsEnvelope("IdsEnvelope") {
        /// The first ten, in their order.
        required ids: Vec<MatchingId> = "ids", "ids";
        /// Whether there are more.
        required more: bool = "more", "flag";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("ids", "/accord/v1/ids", "Finds ids by their beginning.", ids)
            .required_query(PREFIX, "The beginning of the ids.")
            .query(ID_KIND, "What they name.")
            .query(PROJECT_ID, "Only those of this project.")
            .answers(200, "The ids.", Content::json::<IdsEnvelope>())
            .refuses(&[Code::AgenticInvalidSchema, Code::AgenticUnauthorized]),
    ]
}

async fn ids(Context { host, caller, correlation }: Context, query: Query) -> Reply {
    let asked = IdQuery::parse(&query.params()?)?;
    let found = host.memory().ids(&caller, asked).await?;
    let ids = found.ids.into_iter().map(|(project, id)| MatchingId {
        id,
        project_id: project.as_str().to_owned(),
        extra: Object::new(),
    });
    let envelope = alx_envelope!(correlation, IdsEnvelope { ids: ids.collect(), more: found.more });
    Ok(encoded(StatusCode::OK, &envelope))
}

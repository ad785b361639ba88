//! Documents that summarise many rows (orient, orchestrate), and the conformance descriptor.

use accord_api::{Call, Json};
use accord_memory_core::operations::{Orchestrate, Orient, ReadBriefing, ReadConformance};
use accord_memory_core::query::{BriefingForm, BriefingQuery, DigestQuery, Orientation};
use accord_serving::operation::{serve, serve_response};
use hyper::StatusCode;

use crate::{Context, Exchange, Route};
use accord_serving::Reply;
use accord_serving::reply::{json, markdown};

pub fn routes() -> Vec<Route> {
    vec![serve_response(orient), serve_response(briefing), serve_response(orchestrate)]
}

/// The route of the conformance descriptor.
pub fn descriptor() -> Vec<Route> {
    vec![serve(|Context { host, .. }, _: Call<ReadConformance>| async move {
        Ok(Json(host.memory().conformance().await))
    })]
}

async fn orient(asked: Exchange, call: Call<Orient>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let asked = match Orientation::of(call.query)? {
        Orientation::Bundle(asked) => {
            let bundle = host.memory().orient(&caller, &project, asked).await?;
            return Ok(json(StatusCode::OK, bundle));
        }
        Orientation::Briefing(asked) => asked,
    };
    let form = asked.form;
    let briefing = host.memory().brief(&caller, &project, asked).await?;
    Ok(match form {
        BriefingForm::Markdown => markdown(briefing),
        BriefingForm::Json => json(StatusCode::OK, briefing),
    })
}

async fn briefing(asked: Exchange, call: Call<ReadBriefing>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let asked = BriefingQuery::of(call.query)?;
    Ok(markdown(host.memory().brief(&caller, &project, asked).await?))
}

async fn orchestrate(asked: Exchange, call: Call<Orchestrate>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let digest = host.memory().orchestrate(&caller, DigestQuery::of(call.query)?).await?;
    Ok(json(StatusCode::OK, digest))
}

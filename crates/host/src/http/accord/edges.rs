//! Edges over HTTP.

use accord_api::operations::edge_decisions::{
    DecideEdgeItem, EdgeDecisionEnvelope, EdgeDecisionListEnvelope, ListEdgeDecisions,
    WithdrawEdgeDecision,
};
use accord_api::operations::edges::{
    EdgeDetailEnvelope, EdgeEnvelope, EdgeItemEnvelope, EdgeLeftEnvelope, EdgeListEnvelope,
    EdgeOutboxEnvelope, JoinEdge, LeaveEdge, ListEdges, ReadEdge, ReadEdgeItem, SendOutbox,
};
use accord_api::{Call, Json, Operation as _};
use accord_memory::AppliedOutbox;
use accord_serving::acting::Who;
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ListEdges>| {
            let edges = host.memory().edges(&caller, &call.path.project).await?;
            Ok(Json(alx_envelope!(correlation, EdgeListEnvelope { edges })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<JoinEdge>| {
            let of = (&call.path.project, &call.path.edge);
            let joined = host.memory().join_edge(&caller, of, call.query, call.body.0);
            let (edge, incarnation) = joined.await?;
            Ok(Json(alx_envelope!(correlation, EdgeEnvelope { edge, incarnation })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ReadEdge>| {
            let of = (&call.path.project, &call.path.edge);
            let (edge, items) = host.memory().edge(&caller, of).await?;
            Ok(Json(alx_envelope!(correlation, EdgeDetailEnvelope { edge, items })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ReadEdgeItem>| {
            let of = (&call.path.project, &call.path.edge);
            let item = host.memory().edge_item(&caller, of, &call.path.item).await?;
            Ok(Json(alx_envelope!(correlation, EdgeItemEnvelope { item })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<SendOutbox>| {
            let of = (&call.path.project, &call.path.edge);
            let done = host.memory().send_outbox(&caller, of, call.body.0).await?;
            let AppliedOutbox { incarnation, position, digest, applied, received_at, decisions } =
                done;
            let decisions = (!decisions.is_empty()).then_some(decisions);
            Ok(Json(alx_envelope!(
                correlation,
                EdgeOutboxEnvelope {
                    incarnation,
                    position,
                    digest,
                    applied,
                    received_at,
                    decisions
                }
            )))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ListEdgeDecisions>| {
            let of = (&call.path.project, &call.path.edge);
            let decisions = host.memory().edge_decisions(&caller, of).await?;
            Ok(Json(alx_envelope!(correlation, EdgeDecisionListEnvelope { decisions })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<DecideEdgeItem>| {
            let of = (&call.path.project, &call.path.edge);
            let who = Who::of(&caller, call.query);
            let by = who.acting(&caller, of.0, DecideEdgeItem::NEED, None)?;
            let decision = host.memory().decide_edge_item(&caller, of, by, call.body.0).await?;
            Ok(Json(alx_envelope!(correlation, EdgeDecisionEnvelope { decision })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<WithdrawEdgeDecision>| {
            let of = (&call.path.project, &call.path.edge);
            let who = Who::of(&caller, call.query);
            let by = who.acting(&caller, of.0, WithdrawEdgeDecision::NEED, None)?;
            let id = &call.path.decision;
            let decision = host.memory().withdraw_edge_decision(&caller, of, id, by).await?;
            Ok(Json(alx_envelope!(correlation, EdgeDecisionEnvelope { decision })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<LeaveEdge>| {
            let (edge_id, erased) = (call.path.edge, call.query.erase);
            let of = (&call.path.project, &edge_id);
            let events = host.memory().leave_edge(&caller, of, erased).await?;
            Ok(Json(alx_envelope!(correlation, EdgeLeftEnvelope { edge_id, erased, events })))
        }),
    ]
}

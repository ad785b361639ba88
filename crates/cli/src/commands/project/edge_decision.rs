//! Decisions that a person takes on a hub about what waits at an edge.

use accord_api::operations::edge_decisions::{
    DecideEdgeItem, EdgeDecisionRequest, EdgeVerb, ListEdgeDecisions, OfEdgeDecision,
    WithdrawEdgeDecision,
};
use accord_api::operations::edges::{OfEdge, OfEdgeItem, ReadEdgeItem};
use accord_api::parameter::Acting as Who;
use accord_api::{Call, Json, NoBody, NoParams};
use accord_base::Door;
use accord_base::evidence::EvidenceDigest;
use accord_contract::{Code, Failure};

use crate::commands::person::{PersonArgs, Question};
use crate::host::{Candidate, Connection, choose, id_of, print_answer};
use crate::render;
use crate::{Exit, Result};

pub(super) fn verb(text: &str) -> Result<EdgeVerb, String> {
    let given = text.replace('-', "_");
    EdgeVerb::parse(&given).ok_or_else(|| {
        let all = EdgeVerb::ALL.iter().map(|verb| verb.as_str().replace('_', "-"));
        format!("it is one of {}", all.collect::<Vec<_>>().join(", "))
    })
}

/// Decides about an item, which is shown first.
pub(super) fn decide(
    host: &Connection,
    json: bool,
    of: OfEdge,
    (item, verb): (String, EdgeVerb),
    person: PersonArgs,
) -> Result<Exit> {
    let at = OfEdgeItem { project: of.project.clone(), edge: of.edge.clone(), item: item.clone() };
    let shown = host.ask::<ReadEdgeItem>(at, NoParams)?.answer.0.item;
    let evidence = shown.evidence.as_deref().and_then(EvidenceDigest::parse).ok_or_else(|| {
        let message = "the hub does not say what the evidence is";
        Failure::new(Code::HostProtocol, message)
    })?;
    let words = match verb {
        EdgeVerb::SendBack => "send it back".to_owned(),
        verb => format!("{} it", verb.as_str().replace('_', " ")),
    };
    let otherwise = "`accord project edges EDGE ITEM` shows what else you can do";
    let question = Question { verb: &words, evidence: &evidence, otherwise, has_key: host.has_key };
    let decision = person.decide(&question, |page| {
        render::edge_item(page, &shown);
    })?;
    let by = decision.by.acting();
    let expected = decision.expect.as_ref().map(|it| it.as_str().to_owned());
    let request = EdgeDecisionRequest {
        item,
        verb,
        evidence: expected.unwrap_or_else(|| evidence.to_string()),
        note: decision.note,
    };
    let call = Call::<DecideEdgeItem>::new(of, who(), Json(request));
    let answered = host.call_by(&by, &call)?;
    print_answer(json, &answered, |page, answer| render::edge_decision(page, &answer.0.decision))
}

/// Takes back a decision, given by the beginning of its id.
pub(super) fn withdraw(
    host: &Connection,
    json: bool,
    of: OfEdge,
    given: &str,
    person: &PersonArgs,
) -> Result<Exit> {
    let known = host.ask::<ListEdgeDecisions>(of.clone(), NoParams)?.answer.0.decisions;
    let ids = known.into_iter().map(|it| it.decision_id.to_string());
    let found = ids.filter(|id| id.starts_with(given));
    let candidates = found.map(|id| Candidate { id, place: String::new() }).collect();
    let id = choose("decision", given, candidates, false)?;
    let decision = id_of("decision_id", &id)?;
    let path = OfEdgeDecision { project: of.project, edge: of.edge, decision };
    let call = Call::<WithdrawEdgeDecision>::new(path, who(), NoBody);
    let answered = host.call_by(&person.acting()?, &call)?;
    print_answer(json, &answered, |page, answer| render::edge_decision(page, &answer.0.decision))
}

/// A person in a terminal. Only the socket of the data folder makes that count.
fn who() -> Who {
    Who { actor: None, door: Some(Door::Cli) }
}

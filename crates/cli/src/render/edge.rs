//! Edges, as the hub shows them.

use accord_api::operations::edge_decisions::{EdgeDecision, EdgeDecisionState};
use accord_api::operations::edges::{Edge, EdgeItem};

use super::page::{LINE, Page};
use super::table::table;
use super::text::one_line;
use super::time::Times;

pub(crate) fn edges(page: &mut Page, edges: &[Edge]) {
    let times = Times::of_times(edges.iter().map(|edge| Some(&edge.last_contact_at)));
    let rows: Vec<Vec<String>> = edges
        .iter()
        .map(|edge| {
            vec![
                edge.edge_id.to_string(),
                one_line(&edge.name, LINE),
                edge.source.to_string(),
                edge.send.to_string(),
                edge.requests.to_string(),
                edge.position.to_string(),
                times.at(Some(&edge.last_contact_at)),
                times.at(edge.left_at.as_ref()),
            ]
        })
        .collect();
    let names = ["EDGE", "NAME", "IS", "SENDS", "WAITING", "ENTRIES", "LAST CONTACT", "LEFT"];
    table(page, &names, &rows);
}

pub(crate) fn edge(page: &mut Page, edge: &Edge, items: &[EdgeItem]) {
    let times = Times::default();
    page.heading(&one_line(&edge.name, LINE));
    page.labelled("edge", edge.edge_id.as_str());
    page.labelled("is", edge.source.as_str());
    page.labelled("sends", edge.send.as_str());
    page.labelled_some("joined by", edge.joined_by.as_deref());
    page.labelled("joined", &times.at(Some(&edge.joined_at)));
    page.labelled("last contact", &times.at(Some(&edge.last_contact_at)));
    if let Some(left) = &edge.left_at {
        page.labelled("left", &times.at(Some(left)));
    }
    let kinds: Vec<&str> = edge.decide.iter().flatten().map(|kind| kind.as_str()).collect();
    if !kinds.is_empty() {
        let who = edge.deciders.as_deref().unwrap_or_default().join(", ");
        page.labelled("decides", &format!("{}; on the hub: {who}", kinds.join(", ")));
    }
    page.labelled("entries", &edge.position.to_string());
    if edge.lost > 0 {
        page.labelled("lost", &edge.lost.to_string());
    }
    if !items.is_empty() {
        page.gap();
    }
    let times = Times::of_times(items.iter().map(|item| Some(&item.received_at)));
    let rows: Vec<Vec<String>> = items
        .iter()
        .map(|item| {
            let received = times.at(Some(&item.received_at));
            let decided = item.decision.as_ref().map(in_words).unwrap_or_default();
            vec![item.kind.to_string(), item.type_name.clone(), item.id.clone(), received, decided]
        })
        .collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| one_line(cell, LINE)).collect()).collect();
    table(page, &["KIND", "TYPE", "ID", "RECEIVED", "DECISION"], &rows);
}

/// A decision that a person took on the hub.
pub(crate) fn edge_decision(page: &mut Page, decision: &EdgeDecision) {
    let times = Times::default();
    page.heading(&one_line(&in_words(decision), LINE));
    page.labelled("decision", decision.decision_id.as_str());
    page.labelled("item", &decision.item);
    page.labelled("by", &decision.actor);
    page.labelled_some("note", decision.note.as_deref());
    page.labelled("decided", &times.at(Some(&decision.decided_at)));
    if decision.state == EdgeDecisionState::Waiting {
        page.labelled("until", &times.at(Some(&decision.expires_at)));
    }
    page.labelled_some("because", decision.reason.as_deref());
}

pub(super) fn in_words(decision: &EdgeDecision) -> String {
    let state = match decision.state {
        EdgeDecisionState::Waiting => "decided, not delivered",
        EdgeDecisionState::Taken => "the edge applies it",
        other => other.as_str(),
    };
    format!("{}: {state}", decision.verb.as_str().replace('_', " "))
}

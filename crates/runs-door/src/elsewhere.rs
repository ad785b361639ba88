//! Repositories on other machines: what they sent, and what only they can do.

use accord_api::operations::edges::{Edge, EdgeEntryKind, EdgeItem, EdgeSend};
use accord_contract::{Code, Failure, Object, Value};
use accord_outbox::output;

use crate::find::Found;

/// What is asked for, and the command that does it in the repository.
pub(crate) struct Missing {
    pub(crate) what: &'static str,
    pub(crate) command: &'static str,
}

/// Says where the repository is, and what to do there.
pub(crate) fn refuse(edge: &Edge, missing: &Missing) -> Failure {
    let Edge { edge_id, name, last_contact_at, .. } = edge;
    let place = match &edge.joined_by {
        Some(who) => format!("the machine where {who} joined it"),
        None => "the machine where it was joined".to_owned(),
    };
    let message = format!(
        "the repository {name:?} ({edge_id}) is on {place}, and is not open to the hub: {}; the \
         hub has what was sent until {last_contact_at}",
        missing.what
    );
    let failure = Failure::new(Code::RunElsewhere, message)
        .with("edge_id", edge_id.as_str())
        .with("name", name.as_str())
        .with("as_of", last_contact_at.as_str());
    let failure = match &edge.joined_by {
        Some(who) => failure.with("joined_by", who.as_str()),
        None => failure,
    };
    failure.suggesting(format!("run in that repository: {}", missing.command))
}

/// The accepted turns that the host has: of a run, or of the repository.
pub(crate) fn history(found: &Found, run: Option<&str>, last: usize) -> Vec<Object> {
    let results = found.items.iter().filter(|item| item.kind == EdgeEntryKind::Result);
    let is_of = |turn: &Object| run.is_none() || turn.get("run_id").and_then(Value::as_str) == run;
    let turns = results.filter_map(|item| item.document.clone()).filter(is_of);
    let turns: Vec<Object> = turns.collect();
    let excess = turns.len().saturating_sub(last);
    turns.into_iter().skip(excess).collect()
}

/// What an agent printed, as far as it was sent.
pub(crate) struct Printed {
    pub(crate) turn_id: Option<String>,
    pub(crate) output: String,
    pub(crate) next: u64,
}

const OUTPUT: Missing =
    Missing { what: "what agents print is not sent", command: "accord join with --send output" };

/// What the agent of a turn printed, or of the newest turn that has an output.
pub(crate) fn output(found: &Found, turn: Option<&str>, from: u64) -> Result<Printed, Failure> {
    if found.edge.send != EdgeSend::Output {
        return Err(refuse(&found.edge, &OUTPUT));
    }
    let turn_of = |item: &&EdgeItem| {
        let turn = item.document.as_ref()?.get("turn_id")?.as_str();
        turn.map(str::to_owned)
    };
    let outputs = found.items.iter().filter(|item| item.kind == EdgeEntryKind::Output);
    let outputs =
        outputs.filter(|item| turn.is_none_or(|turn| turn_of(item).as_deref() == Some(turn)));
    let newest = outputs.max_by_key(|item| item.received_at.time());
    let Some((item, body)) = newest.and_then(|item| Some((item, item.document.as_ref()?))) else {
        return Ok(Printed { turn_id: turn.map(str::to_owned), output: String::new(), next: from });
    };
    let (output, next) = output::from_place(body, from);
    Ok(Printed { turn_id: turn_of(&item), output, next })
}

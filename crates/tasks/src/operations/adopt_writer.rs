//! A person confirms another copy of the tree, once: what it signs counts from then on.

use std::collections::{BTreeMap, HashMap};

use accord_base::By;
use accord_base::evidence::EvidenceDigest;
use accord_contract::{Code, Failure, Value, Wire as _};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{AdoptWriterAnswer, AdoptWriterRequest};
use accord_tasks_core::verbs::Verdict;
use accord_tasks_core::{TaskId, evidence};
use accord_trees::record::RecordLines;

use crate::event_log::all_logs;
use crate::referee::waiting::Cause;
use crate::signed::Signed;
use crate::tree::failure;
use crate::work::Work;
use crate::writers::writer_of;
use crate::{Result, Tree};

impl Tree {
    /// Confirms the copy of the tree that signs the events of a writer.
    pub fn adopt_writer(&self, request: &AdoptWriterRequest, by: &By) -> Result<AdoptWriterAnswer> {
        by.check_person("confirm another copy of the tasks")?;
        let is_trial = request.dry_run == Some(true);
        let (request, by) = (request.clone(), by.clone());
        let adopt = move |work: &mut Work<'_>| adopt(work, &request, &by);
        let answer = if is_trial { self.read(adopt)? } else { self.change(adopt)? };
        if answer.confirmed {
            self.look_at(&answer.tasks)?;
        }
        Ok(answer)
    }
}

/// What is signed with one key.
#[derive(Default)]
struct Said {
    events: u64,
    actors: HashMap<String, u64>,
}

fn adopt(work: &mut Work<'_>, request: &AdoptWriterRequest, by: &By) -> Result<AdoptWriterAnswer> {
    let writer = request.writer.trim();
    let (key, said) = key_of(work, writer)?;
    let nothing = |message: String| Err(Failure::new(Code::AofNothingToAdopt, message));
    let own = work.state.writers().and_then(|writers| Some(writers.key()?.public()));
    if own.as_deref() == Some(&*key) {
        return nothing(format!("{writer} is this copy of the tasks; its key is {key}"));
    }
    if work.state.is_confirmed(&key) {
        return nothing(format!("the copy of {writer} is confirmed"));
    }
    let evidence = evidence::digest((&key, None), &[], &[], &[], &[]);
    evidence::check((&evidence, true), request.expect.as_deref(), None)?;
    let mut actors: Vec<(String, u64)> = said.actors.into_iter().collect();
    actors.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    let is_trial = request.dry_run == Some(true);
    let answer = AdoptWriterAnswer {
        writer: writer.to_owned(),
        key: key.clone(),
        actors: actors.into_iter().map(|(actor, _)| actor).collect(),
        events: said.events,
        tasks: waiting_for(work, &key)?,
        confirmed: !is_trial,
        evidence: evidence.to_string(),
    };
    if is_trial {
        return Ok(answer);
    }
    record(work, request, by, &evidence, &answer);
    work.confirmed = Some(key);
    Ok(answer)
}

fn record(
    work: &mut Work<'_>,
    request: &AdoptWriterRequest,
    by: &By,
    evidence: &EvidenceDigest,
    answer: &AdoptWriterAnswer,
) {
    let (subject, note) = (format!("writer {}", answer.writer), request.note.as_deref());
    let decision = Verdict::ADOPTED.record(&subject, by, note, evidence, work.now());
    let event = TaskEvent::new(kind::ADOPTED, by.name(), None, work.now())
        .with("door", by.door.as_str())
        .with("copy", answer.writer.as_str())
        .with("key", answer.key.as_str())
        .with("decision", decision.encode());
    work.event(event);
    work.decide(decision);
}

/// The key that signed the events of a writer. A key itself is a name, too.
fn key_of(work: &Work<'_>, writer: &str) -> Result<(String, Said)> {
    let disk = work.disk();
    let mut keys: BTreeMap<String, Said> = BTreeMap::new();
    for log in all_logs(disk).map_err(|error| failure(&error))? {
        let is_named = writer_of(&log) == Some(writer);
        let lines = RecordLines::open(disk, &log, 0, 0).map_err(|error| failure(&error))?;
        for line in lines.filter_map(std::result::Result::ok).map(|line| line.object) {
            let text = |name: &str| line.get(name).and_then(Value::as_str);
            let signed = Signed::of(&line).filter(|signed| is_named || signed.key() == writer);
            let Some(key) = signed.as_ref().and_then(Signed::signer) else { continue };
            let found = keys.entry(key.to_owned()).or_default();
            found.events += 1;
            if let Some(actor) = text("actor") {
                *found.actors.entry(actor.to_owned()).or_default() += 1;
            }
        }
    }
    let names: Vec<String> = keys.keys().cloned().collect();
    match (keys.into_iter().next(), names.len()) {
        (Some(found), 1) => Ok(found),
        (None, _) | (_, 0) => {
            let message = format!("no event of {writer} is signed");
            Err(Failure::new(Code::AofNothingToAdopt, message).suggesting(
                "accord task lint names the copies whose decisions wait; of an earlier version, \
                 adopt each task: accord task adopt ID",
            ))
        }
        _ => {
            let message = format!(
                "{} keys signed events in the logs of {writer}: {}",
                names.len(),
                names.join(", ")
            );
            Err(Failure::new(Code::AofNothingToAdopt, message).suggesting(
                "somebody else wrote into these logs: name the key instead of the writer. In the \
                 other copy, accord task adopt --writer says its own key",
            ))
        }
    }
}

/// The tasks that wait because the copy with a key is not confirmed.
fn waiting_for(work: &Work<'_>, key: &str) -> Result<Vec<TaskId>> {
    let logs = work.logs()?;
    let is_of = |id: TaskId| {
        work.waiting(id).is_some_and(|waiting| {
            matches!(waiting.cause(), Cause::Unconfirmed(_)) && logs.is_signed(&waiting.wanted, key)
        })
    };
    Ok(work.index.waiting.keys().copied().filter(|id| is_of(*id)).collect())
}

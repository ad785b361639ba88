//! A person takes over what a file says, where Accord refused it.

use accord_base::By;
use accord_base::decision::DecisionRecord;
use accord_base::evidence::{EvidenceDigest, LastDecision};
use accord_contract::{Code, Failure, Object, Value, Wire as _};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{
    AdoptAnswer, AdoptRequest, AdoptedChange, ApplyMode, Deciding as _, ReviewMode, TaskDetails,
    TaskMove,
};
use accord_tasks_core::referee::{Difference, differences};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::{Verdict, last_decision};
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId, evidence};

use super::apply::{check_worker_ended, invalid, moves};
use crate::committed::LeaseOrigin;
use crate::layout::{MANIFEST, SETTINGS};
use crate::manifest::{CommittedSettings, committed_text, read_manifest};
use crate::referee::refused_file;
use crate::referee::settings::refused_manifest;
use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// Takes over the last refused edit of a task, or its lease if nothing says who gave it out.
    pub fn adopt(&self, task: &str, request: &AdoptRequest, by: &By) -> Result<AdoptAnswer> {
        by.check_person("adopt an edit")?;
        let (task, project) = (task.to_owned(), self.project().to_owned());
        let (request, by) = (request.clone(), by.clone());
        self.change(move |work| {
            let id = work.resolve(&task)?;
            adopt_task(work, &project, id, &request, &by)
        })
    }

    /// Takes over `apply` and `review` as `project.yaml` says them, or did before they were undone.
    pub fn adopt_settings(&self, request: &AdoptRequest, by: &By) -> Result<AdoptAnswer> {
        by.check_person("adopt an edit")?;
        let (request, by) = (request.clone(), by.clone());
        self.change(move |work| adopt_settings(work, &request, &by))
    }
}

fn adopt_task(
    work: &mut Work<'_>,
    project: &str,
    id: TaskId,
    request: &AdoptRequest,
    by: &By,
) -> Result<AdoptAnswer> {
    let mut before = work.read(id)?;
    let waiting = work.waiting(id);
    let mut by = by.clone();
    if request.dry_run != Some(true) {
        check_worker_ended(work, &before, request.despite_leftovers(), &mut by)?;
    }
    let by = &by;
    let is_unknown = work.held(id).is_some_and(|held| held.lease == LeaseOrigin::Unknown);
    // A lease that nothing is known about is taken over first, with the file as it is.
    let refused = match &waiting {
        // Its file is as it was found.
        Some(waiting) => Some(waiting.wanted.text()),
        None if is_unknown => None,
        None => work.text(&refused_file(id))?,
    };
    let refused = refused.filter(|text| !text.is_empty());
    let evidence = work.evidence(&before)?.digest;
    // The edit, too: a later one could be refused while a person looks at this one.
    let evidence = match &refused {
        Some(text) => evidence::with_edit(&evidence, text),
        None => evidence,
    };
    let last = last_decision(before.task());
    evidence::check((&evidence, true), request.expect.as_deref(), last.as_ref())?;
    let mut after = match &refused {
        None if is_unknown => before.clone(),
        None => {
            let message = format!("no edit of {id} was refused");
            let failure = Failure::new(Code::AofNothingToAdopt, message);
            return Err(failure.with("task_id", id.to_string()));
        }
        Some(text) => {
            let file = TaskFile::read(text).ok().filter(|file| file.task().id == id);
            file.ok_or_else(|| invalid(&format!("the refused text of {id} is not a task")))?
        }
    };
    // The body was never refused: the present one may be newer.
    if waiting.is_none() {
        after.set_body(before.body());
    }
    if !after.task().status.is_leased() && after.task().lease.value().is_some() {
        after.edit(&[Change::remove(&["lease"])]).map_err(|error| invalid(&error.to_string()))?;
    }
    let changes = differences(before.members(), after.members(), after.task().status);
    if request.dry_run == Some(true) {
        let task = work.details(project, &before, work.run_facts(id)?);
        return Ok(answer(Some(task), &changes, Vec::new(), &evidence));
    }
    let change = Verdict::ADOPTED.change(by, request.note.as_deref(), &evidence, work.now());
    after.edit(&[change]).map_err(|error| invalid(&error.to_string()))?;
    let (from, to) = (before.task().status, after.task().status);
    if waiting.is_some() {
        before = work.take_waiting(id)?;
    } else if refused.is_some() {
        // An edit is taken over once.
        work.put(&refused_file(id), String::new())?;
    }
    work.update(&before, &after)?;
    if after.task().lease.value().is_some() && to.is_leased() {
        work.hold(&after, LeaseOrigin::Accord)?;
    }
    let title = Some(after.task().title.clone());
    let decision =
        DecisionRecord { title, ..decision(work, &id.to_string(), request, by, &evidence) };
    let mut events = vec![event(work, Some(id), &changes, &decision, by)];
    if from != to {
        let moved = TaskEvent::moved(id, by.name(), (from, to), Some("adopted"), work.now());
        events.push(match to {
            Status::Done => moved.with("decision", decision.encode()),
            _ => moved,
        });
        if to == Status::Done {
            work.finished(&after, &after)?.put_into(&mut events);
        }
    }
    work.decide(decision);
    let moved = moves(&events);
    events.into_iter().for_each(|event| work.event(event));
    let task = work.details(project, &after, work.run_facts(id)?);
    Ok(answer(Some(task), &changes, moved, &evidence))
}

fn adopt_settings(work: &mut Work<'_>, request: &AdoptRequest, by: &By) -> Result<AdoptAnswer> {
    let refused = work.text(&refused_manifest())?.filter(|text| !text.is_empty());
    let said = if refused.is_some() { refused.clone() } else { work.text(MANIFEST)? };
    let missing = || Failure::new(Code::AofNoTaskTree, format!("there is no {MANIFEST}"));
    let text = said.ok_or_else(missing)?;
    let manifest = read_manifest(&text)?;
    let committed = work.text(SETTINGS)?;
    let evidence = evidence::digest((&text, committed.as_deref()), &[], &[], &[], &[]);
    let old = work.settings().committed.clone();
    let last = old.as_ref().map(|old| LastDecision {
        by: old.by.clone(),
        outcome: "adopted".to_owned(),
        at: old.at.clone(),
        evidence: old.evidence.clone(),
    });
    evidence::check((&evidence, true), request.expect.as_deref(), last.as_ref())?;
    let apply = manifest.apply.unwrap_or(ApplyMode::AtOnce);
    let review = manifest.review.unwrap_or(ReviewMode::Human);
    let old = old.map(|old| (Value::from(old.apply.as_str()), Value::from(old.review.as_str())));
    let new = (Value::from(apply.as_str()), Value::from(review.as_str()));
    if old.as_ref() == Some(&new) {
        let message = format!("apply and review of {MANIFEST} are committed as they are");
        return Err(Failure::new(Code::AofNothingToAdopt, message));
    }
    let of = |name: &str, old: Option<&Value>, new: &Value| {
        (old != Some(new)).then(|| Difference::new(&[name], old, Some(new)))
    };
    let (old_apply, old_review) = old.as_ref().map(|(apply, review)| (apply, review)).unzip();
    let changes = [of("apply", old_apply, &new.0), of("review", old_review, &new.1)];
    let changes: Vec<Difference> = changes.into_iter().flatten().collect();
    if request.dry_run == Some(true) {
        return Ok(answer(None, &changes, Vec::new(), &evidence));
    }
    let committed = CommittedSettings {
        apply,
        review,
        by: by.name().to_owned(),
        door: by.door.as_str().to_owned(),
        at: work.now().to_string(),
        evidence: Some(evidence.to_string()),
        extra: Object::new(),
    };
    if refused.is_some() {
        work.put(&refused_manifest(), String::new())?;
        let now = work.text(MANIFEST)?.unwrap_or_default();
        let mut yaml = accord_tasks_core::yaml::Yaml::read(now)
            .map_err(|error| Failure::new(Code::AofProjectManifestInvalid, error.to_string()))?;
        let said =
            [Change::set(&["apply"], apply.as_str()), Change::set(&["review"], review.as_str())];
        yaml.edit(&said)
            .map_err(|error| Failure::new(Code::AofProjectManifestInvalid, error.to_string()))?;
        work.put(MANIFEST, yaml.text().to_owned())?;
    }
    work.put(SETTINGS, committed_text(&committed))?;
    let decision = decision(work, MANIFEST, request, by, &evidence);
    let event = event(work, None, &changes, &decision, by);
    work.event(event);
    work.decide(decision);
    Ok(answer(None, &changes, Vec::new(), &evidence))
}

fn answer(
    task: Option<TaskDetails>,
    changes: &[Difference],
    moves: Vec<TaskMove>,
    evidence: &EvidenceDigest,
) -> AdoptAnswer {
    AdoptAnswer {
        task,
        adopted: changes.iter().map(adopted).collect(),
        evidence: Some(evidence.as_str().to_owned()),
        moves,
        notices: Vec::new(),
    }
}

fn decision(
    work: &Work<'_>,
    subject: &str,
    request: &AdoptRequest,
    by: &By,
    evidence: &EvidenceDigest,
) -> DecisionRecord {
    Verdict::ADOPTED.record(subject, by, request.note.as_deref(), evidence, work.now())
}

fn event(
    work: &Work<'_>,
    task: Option<TaskId>,
    changes: &[Difference],
    decision: &DecisionRecord,
    by: &By,
) -> TaskEvent {
    let values = changes.iter().map(|change| (change.member(), change.values()));
    let event = TaskEvent::new(kind::ADOPTED, by.name(), task, work.now())
        .with("door", by.door.as_str())
        .with("changes", Value::Object(values.collect::<Object>()))
        .with("decision", decision.encode());
    let said = [("presence", by.presence.recorded()), ("note", decision.note.as_deref())];
    said.into_iter().fold(event, |event, (name, said)| match said {
        Some(said) => event.with(name, said),
        None => event,
    })
}

fn adopted(change: &Difference) -> AdoptedChange {
    AdoptedChange {
        member: change.member(),
        accord: change.accord.clone().unwrap_or(Value::Null),
        file: change.file.clone().unwrap_or(Value::Null),
    }
}

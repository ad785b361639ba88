//! What workers leave in the memory while they work on something, and what becomes of it when a
//! person rejects their work.
//!
//! Invariants:
//! - packages and facts that came through the socket of an attempt are noted with what its worker
//!   worked on, in the transaction that stores them;
//! - when the work is rejected, its packages leave lists, searches and briefings, and stay readable
//!   by their ids. Nothing in them changes. The values before its facts hold again;
//! - a package that is deposited again afterwards is shown again. What the next attempt leaves
//!   again before the memory knows of the rejection stays.

use accord_base::excerpt::one_line;
use accord_base::{Actor, ActorType, ProjectId};
use accord_contract::{Failure, Time, Timestamp, Value};
use accord_memory_core::PackageId;
use accord_memory_core::package::flow::AUTHOR;
use accord_memory_core::sources::SOURCE;
use accord_store::{FactQuery, FactRow, Quarantine, Scope, When, WriteUnit};
use serde_json::json;

use super::{Memory, UnitResult, load};

/// The settings of a project with what was noted.
const NOTED: &str = "attempt:";
/// The most packages and facts of one work that are noted.
const MOST: usize = 1_000;
/// The longest title of a package, in characters.
const TITLE: usize = 200;
/// The most facts of a chain that are looked at for the value before.
const CHAIN: usize = 1_000;

/// Work that ended.
#[derive(Clone, Debug)]
pub struct EndedWork {
    /// What the workers worked on, such as a task.
    pub work: String,
    /// What came after this time is of the next attempt.
    pub until: Time,
    /// The package that says that it was rejected; `None` for work that is done.
    pub rejected: Option<Value>,
}

/// What a worker left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Left<'a> {
    Package(&'a PackageId),
    Fact(&'a str),
}

impl<'a> Left<'a> {
    fn named(self) -> (&'static str, &'a str) {
        match self {
            Self::Package(id) => ("package", id.as_str()),
            Self::Fact(id) => ("fact", id),
        }
    }
}

/// Notes what a worker left.
pub(crate) fn note(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    (work, agent): (&str, &str),
    left: Left<'_>,
    now: Time,
) -> UnitResult<()> {
    let name = name_of(work);
    let mut noted = read(unit.setting(Scope::Project(project), &name)?.as_deref());
    let (kind, id) = left.named();
    if noted.len() < MOST {
        let at = Timestamp::emit(now);
        noted.push(json!({"kind": kind, "id": id, "agent": agent, "at": at.as_str()}));
        let text = Value::from(noted).to_string();
        unit.put_setting(Scope::Project(project), &name, Some(&text))?;
    }
    Ok(())
}

/// Notes again what the same work left before: its next attempt leaves it, too.
pub(crate) fn note_again(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    of: (&str, &str),
    left: Left<'_>,
    now: Time,
) -> UnitResult<()> {
    let (_, id) = left.named();
    let noted = read(unit.setting(Scope::Project(project), &name_of(of.0))?.as_deref());
    match noted.iter().any(|line| line["id"] == id) {
        true => note(unit, project, of, left, now),
        false => Ok(()),
    }
}

/// Shows a package again that was set aside because its work was rejected.
pub(crate) fn show_again(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    package: &PackageId,
) -> UnitResult<()> {
    Ok(unit.quarantine_package(project, package, None)?)
}

impl Memory {
    /// Forgets what was noted about work that is done, and takes back what rejected work left.
    /// Returns the package that says so, if anything was taken back.
    pub(crate) fn end_work(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        ended: &EndedWork,
    ) -> UnitResult<Option<Value>> {
        let name = name_of(&ended.work);
        let Some(text) = unit.setting(Scope::Project(project), &name)? else { return Ok(None) };
        let (of_it, later): (Vec<Value>, Vec<Value>) =
            read(Some(&text)).into_iter().partition(|line| {
                let at = line["at"].as_str().and_then(Time::parse_iso);
                at.is_none_or(|at| at <= ended.until)
            });
        let kept = Value::from(later.clone()).to_string();
        let kept = Some(kept.as_str()).filter(|_| !later.is_empty());
        unit.put_setting(Scope::Project(project), &name, kept)?;
        let Some(mut document) = ended.rejected.clone() else { return Ok(None) };
        let is_left_again = |line: &Value| later.iter().any(|again| again["id"] == line["id"]);
        let ids = |kind: &str| -> Vec<&str> {
            let of_kind = of_it.iter().filter(|line| line["kind"] == kind);
            let of_kind = of_kind.filter(|line| !is_left_again(line));
            of_kind.filter_map(|line| line["id"].as_str()).collect()
        };
        let mut left_out = Vec::new();
        for id in ids("package") {
            left_out.extend(self.set_aside_package(unit, project, (id, &ended.work))?);
        }
        let facts = ids("fact");
        for id in facts.iter().rev() {
            left_out.extend(self.take_back(unit, project, id, (&facts, &ended.work))?);
        }
        if left_out.is_empty() {
            return Ok(None);
        }
        let reason = document["description"].as_str().unwrap_or_default();
        let list: Vec<String> = left_out.iter().map(|line| format!("- {line}")).collect();
        let text = format!("{reason}\n\nLeft out of the memory since then:\n{}", list.join("\n"));
        document["description"] = text.into();
        // A briefing shows the title alone.
        let title = document["title"].as_str().unwrap_or_default();
        let title = one_line(&format!("{title}; left out: {}", left_out.join("; ")), TITLE);
        document["title"] = title.into();
        Ok(Some(document))
    }

    /// Sets a package aside. Returns a line about it; `None` if there is nothing to set aside.
    fn set_aside_package(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        (id, work): (&str, &str),
    ) -> UnitResult<Option<String>> {
        let Ok(id) = PackageId::new(id) else { return Ok(None) };
        let Some(row) = load::if_sound(unit.package(project, &id))? else { return Ok(None) };
        if row.quarantine.is_some() {
            return Ok(None);
        }
        let title: Option<String> = serde_json::from_str::<Value>(&row.state.text)
            .ok()
            .and_then(|package| package["title"].as_str().map(str::to_owned));
        let at = Timestamp::emit(self.now_in(unit, project)?);
        unit.quarantine_package(project, &id, Some(&Quarantine::rejected(at, work)))?;
        Ok(Some(format!("{} ({id})", title.unwrap_or_default())))
    }

    /// Lets the value before a fact hold again, if the fact is the current one. Returns a line
    /// about it.
    fn take_back(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        id: &str,
        (others, work): (&[&str], &str),
    ) -> UnitResult<Option<String>> {
        let Ok(fact) = accord_memory_core::FactId::new(id) else { return Ok(None) };
        let Some(row) = load::if_sound(unit.fact(project, &fact))? else { return Ok(None) };
        if row.valid_to.is_some() {
            return Ok(None);
        }
        let query = FactQuery {
            subject: Some(&row.subject),
            predicate: Some(&row.predicate),
            when: When::Ever,
            limit: CHAIN,
            ..FactQuery::default()
        };
        let chain = unit.facts(project, &query)?;
        let source = json!({"protocol": "memory", "kind": "rejected", "work": work, "fact": id});
        let by = Actor::new(AUTHOR.parse().map_err(Failure::from)?, ActorType::Script);
        match value_before(&chain, &row, others) {
            Some(before) => {
                let mut document: Value = serde_json::from_str(&before.text).unwrap_or_default();
                let mut assertion = json!({
                    "subject": row.subject, "predicate": row.predicate, "value": before.value,
                    "asserted_by": {"id": AUTHOR, "type": "script"}, SOURCE: source,
                });
                for name in ["confidence", "tags", "source_package_id"] {
                    let value = document[name].take();
                    if !value.is_null() {
                        assertion[name] = value;
                    }
                }
                self.assert_by_itself(unit, project, &assertion, by)?;
                Ok(Some(format!(
                    "{} {} = {}; {} holds again",
                    row.subject, row.predicate, row.value, before.value
                )))
            }
            None => {
                self.invalidate_by_itself(unit, project, &row, &by)?;
                Ok(Some(format!("{} {} = {}", row.subject, row.predicate, row.value)))
            }
        }
    }
}

/// The fact whose value held until a fact began, without those of the same work.
fn value_before<'c>(chain: &'c [FactRow], of: &FactRow, others: &[&str]) -> Option<&'c FactRow> {
    let mut began = of.valid_from.time();
    loop {
        let ends_then = |row: &&FactRow| {
            let to = row.valid_to.as_ref().map(Timestamp::time);
            row.fact_id != of.fact_id && to == Some(began) && !row.never_held()
        };
        let before = chain.iter().rev().find(ends_then)?;
        if !others.contains(&before.fact_id.as_str()) {
            return Some(before);
        }
        began = before.valid_from.time();
    }
}

fn name_of(work: &str) -> String {
    format!("{NOTED}{work}")
}

fn read(text: Option<&str>) -> Vec<Value> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

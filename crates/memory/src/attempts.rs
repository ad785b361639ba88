//! What workers leave in the memory while they work on something, and what becomes of it when a
//! person rejects their work.
//!
//! Invariants:
//! - packages and facts that came through the socket of an attempt are noted with what its worker
//!   worked on, and which attempt it was, in the transaction that stores them;
//! - when the work is rejected, its packages leave lists, searches and briefings, and stay readable
//!   by their ids. Nothing in them changes. The values before its facts hold again;
//! - a package that is deposited again afterwards is shown again. What the next attempt leaves
//!   again before the memory knows of the rejection stays, and so does what an earlier attempt left
//!   that was not rejected;
//! - nothing of a worker is stored that is not noted: what does not fit into the notes is refused;
//! - what was noted is forgotten when the work is done, and 90 days after the last note.

use std::time::Duration;

use accord_base::excerpt::one_line;
use accord_base::worker::Attempt;
use accord_base::{Actor, ActorType, ProjectId};
use accord_contract::{Code, Failure, Time, Timestamp, Value, Wire as _};
use accord_memory_core::deposit::answer;
use accord_memory_core::package::flow::{AUTHOR, RESULT_OF, TAKES_BACK};
use accord_memory_core::sources::SOURCE;
use accord_memory_core::{Package, PackageId};
use accord_store::{FactQuery, FactRow, Quarantine, ReadUnit, Scope, When, WriteUnit};
use serde_json::json;

use super::deposit::Deposited;
use super::flow::FlowPackage;
use super::served::Served;
use super::{Memory, UnitError, UnitResult, load};

/// The settings of a project with what was noted.
const NOTED: &str = "attempt:";
/// The most packages and facts of one work that are noted.
const MOST: usize = 1_000;
/// For how long work is noted of which nothing more is heard.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// The longest title of a package, in characters, without the note of how many are left out.
const TITLE: usize = 170;
/// The most facts of a chain that are looked at for the value before.
const CHAIN: usize = 1_000;

/// Work that ended.
#[derive(Clone, Debug)]
pub struct EndedWork {
    /// What the workers worked on, such as a task.
    pub work: String,
    /// The attempt that was rejected; `None` for all until then.
    pub attempt: Option<String>,
    /// What came after this time is of the next attempt, if attempts are not told apart.
    pub until: Time,
    /// The package that says that it was rejected; `None` for work that is done.
    pub rejected: Option<Value>,
}

impl EndedWork {
    /// The work that a package of the flow says was rejected.
    pub(crate) fn of_package(package: &Package) -> Option<Self> {
        let fields = package.fields();
        let said = fields.extra.get(TAKES_BACK)?;
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            work: text("work")?,
            attempt: text("attempt"),
            until: fields.created_at.time(),
            rejected: Some(fields.encode()),
        })
    }

    /// Whether a note is about it.
    fn is_of(&self, note: &Value) -> bool {
        match (&self.attempt, note["attempt"].as_str()) {
            (Some(attempt), Some(noted)) => attempt == noted,
            _ => time_of(note).is_none_or(|at| at <= self.until),
        }
    }
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

/// Notes what a worker left. Fails with `work_full`, so that it is not stored.
pub(crate) fn note(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    attempt: &Attempt,
    left: Left<'_>,
    now: Time,
) -> UnitResult<()> {
    let name = name_of(&attempt.work);
    let mut noted = read(unit.setting(Scope::Project(project), &name)?.as_deref());
    if noted.is_empty() {
        forget_old(unit, project, now)?;
    }
    let (kind, id) = left.named();
    let of_attempt = attempt.id.as_deref();
    // The last time counts.
    noted.retain(|line| {
        (line["kind"].as_str(), line["id"].as_str()) != (Some(kind), Some(id))
            || line["attempt"].as_str() != of_attempt
    });
    if noted.len() >= MOST {
        return Err(full(&attempt.work).into());
    }
    let at = Timestamp::emit(now);
    let agent = attempt.agent.as_str();
    let mut note = json!({"kind": kind, "id": id, "agent": agent, "at": at.as_str()});
    if let Some(of_attempt) = of_attempt {
        note["attempt"] = of_attempt.into();
    }
    noted.push(note);
    let text = Value::from(noted).to_string();
    Ok(unit.put_setting(Scope::Project(project), &name, Some(&text))?)
}

fn full(work: &str) -> Failure {
    let message = format!(
        "the workers of {work} left {MOST} packages and facts, and more could not be taken back"
    );
    Failure::new(Code::WorkFull, message)
        .with("work", work)
        .with("limit", MOST)
        .suggesting("nothing was stored; say the rest in the report or result of the work")
}

/// Notes again what the same work left before: its next attempt leaves it, too.
pub(crate) fn note_again(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    attempt: &Attempt,
    left: Left<'_>,
    now: Time,
) -> UnitResult<()> {
    let (_, id) = left.named();
    let noted = read(unit.setting(Scope::Project(project), &name_of(&attempt.work))?.as_deref());
    match noted.iter().any(|line| line["id"] == id) {
        true => note(unit, project, attempt, left, now),
        false => Ok(()),
    }
}

/// The package of the flow as a child of what the worker deposited last in the same attempt, so
/// that one line of a briefing shows both; `None` if it stays as it is.
pub(crate) fn with_parent(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    package: &Package,
) -> UnitResult<Option<Package>> {
    let fields = package.fields();
    let Some(result) = fields.extra.get(RESULT_OF) else { return Ok(None) };
    // One that the project has stays as it is.
    if fields.parent().is_some() || load::is_there(unit.package(project, package.package_id()))? {
        return Ok(None);
    }
    let text = |name: &str| result.get(name).and_then(Value::as_str);
    let Some(work) = text("work") else { return Ok(None) };
    let noted = read(unit.setting(Scope::Project(project), &name_of(work))?.as_deref());
    for note in noted.iter().rev().filter(|note| note["kind"] == "package") {
        let is_of = text("attempt").zip(note["attempt"].as_str());
        if is_of.is_some_and(|(attempt, noted)| attempt != noted) {
            continue;
        }
        let Some(Ok(id)) = note["id"].as_str().map(PackageId::new) else { continue };
        let row = load::if_sound(unit.package(project, &id))?;
        if row.is_some_and(|row| row.quarantine.is_none()) {
            let mut document = fields.encode();
            document["parent_package_id"] = id.as_str().into();
            return Ok(Some(Package::parse(document.to_string().as_bytes())?));
        }
    }
    Ok(None)
}

/// Forgets work of which nothing was heard for long: its tree or repository may be gone.
fn forget_old(unit: &mut dyn WriteUnit, project: &ProjectId, now: Time) -> UnitResult<()> {
    let oldest = now.unix_millis() - i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
    for (name, text) in unit.settings(Scope::Project(project))? {
        let is_recent = |note: &Value| time_of(note).is_some_and(|at| at.unix_millis() >= oldest);
        if name.starts_with(NOTED) && !read(Some(&text)).iter().any(is_recent) {
            unit.put_setting(Scope::Project(project), &name, None)?;
        }
    }
    Ok(())
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
    /// Takes back what an attempt left that was rejected, and deposits the package that says so if
    /// there was anything.
    pub(crate) async fn deposit_rejection(
        &self,
        project: &ProjectId,
        ended: EndedWork,
        package: &Package,
    ) -> Result<Deposited, Failure> {
        let (memory, project) = (self.clone(), project.clone());
        let job = move |unit: &mut dyn WriteUnit| {
            let Some(document) = memory.end_work(unit, &project, &ended)? else { return Ok(None) };
            memory.put_flow(unit, &project, &FlowPackage::new(&document)?)?;
            Ok::<_, UnitError>(Some(document))
        };
        let stored = self.write(job).await?;
        let new = stored.is_some();
        let stored = stored.map(|document| Package::parse(document.to_string().as_bytes()));
        let stored = stored.transpose()?;
        let package = stored.as_ref().unwrap_or(package);
        let (text, apart) = answer(package, Vec::new());
        let package = Served {
            package_id: package.package_id().clone(),
            content_hash: *package.content_hash(),
            revision: 1,
            text,
            apart,
        };
        Ok(Deposited { new, new_project: false, package })
    }

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
        let (of_it, others): (Vec<Value>, Vec<Value>) =
            read(Some(&text)).into_iter().partition(|line| ended.is_of(line));
        let kept = Value::from(others.clone()).to_string();
        let kept = Some(kept.as_str()).filter(|_| !others.is_empty());
        unit.put_setting(Scope::Project(project), &name, kept)?;
        let Some(mut document) = ended.rejected.clone() else { return Ok(None) };
        let is_of_others = |line: &Value| others.iter().any(|other| other["id"] == line["id"]);
        let ids = |kind: &str| -> Vec<&str> {
            let of_kind = of_it.iter().filter(|line| line["kind"] == kind);
            let of_kind = of_kind.filter(|line| !is_of_others(line));
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

fn time_of(note: &Value) -> Option<Time> {
    note["at"].as_str().and_then(Time::parse_iso)
}

fn read(text: Option<&str>) -> Vec<Value> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

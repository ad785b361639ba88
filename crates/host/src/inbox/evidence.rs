//! What Accord knows about an item, read from its source when the item is shown.
//!
//! Invariants:
//! - what Accord knows is one line: what an agent wrote into a name or a path makes no other fact;
//! - what is cut or left out is said, with its number. Names of files and commands, about which a
//!   person decides, are not cut.

use accord_api::operations::edges::EdgeItem;
use accord_base::excerpt::one_line;
use accord_base::inbox::{InboxFact, InboxItem, InboxVerb, kind};
use accord_base::words::{in_words, members_in_words};
use accord_base::{By, Caller, Door, EdgeId};
use accord_contract::{Code, Failure, Object, Value};
use accord_live_core::{AppId, SessionId};
use accord_memory::{UnitError, UnitResult};
use accord_memory_core::operations::Suspect;
use accord_memory_core::{PackageId, damage};
use accord_outbox::decision::is_open;
use accord_store::{QuestionQuery, ReadUnit, Scope};
use accord_system::spawn_blocking;
use accord_tasks_core::observed::said_line;
use accord_tasks_core::operations::{ShowQuery, TaskObserved};

use super::verbs;
use crate::http::Host;

/// The most characters of a value.
const VALUE: usize = 2_000;
/// The most characters of what is not cut: commands, and the names of files.
const WHOLE: usize = 200_000;
/// The most facts of one kind, such as outputs.
const MOST: usize = 20;

/// The members of a request of an edge that say something by themselves, and how they are shown.
const OF_EDGE: [(&str, &str); 9] = [
    ("blocked_because", "blocked because"),
    ("about", "about"),
    ("why", "why"),
    ("command", "command, there"),
    ("why_not", "not decided here because"),
    ("checks", "checks"),
    ("diff", "diff"),
    ("cuts", "cuts"),
    ("evidence_error", "evidence_error"),
];

#[derive(Default)]
struct Facts(Vec<InboxFact>);

impl Facts {
    /// Something that Accord knows.
    fn know(&mut self, name: &str, value: impl ToString) {
        self.put(name, value, false);
    }

    /// Something that somebody wrote.
    fn claim(&mut self, name: &str, value: impl ToString) {
        self.put(name, value, true);
    }

    /// Something that Accord saw itself, or that somebody says.
    fn tell(&mut self, is_known: bool, name: &str, value: impl ToString) {
        self.put(name, value, !is_known);
    }

    fn put(&mut self, name: &str, value: impl ToString, is_claim: bool) {
        self.put_within(VALUE, name, &value.to_string(), is_claim);
    }

    fn put_within(&mut self, most: usize, name: &str, value: &str, is_claim: bool) {
        let value = match is_claim {
            true => cut(value, most),
            false => one_line(value, most),
        };
        let name = one_line(name, 200);
        self.0.push(InboxFact { name, value, is_claim, extra: Object::new() });
    }

    /// Facts of one kind, of which the first are shown. `where_all`: where all of them are.
    fn each<T>(&mut self, all: &[T], where_all: &str, mut put: impl FnMut(&mut Self, &T)) {
        all.iter().take(MOST).for_each(|one| put(self, one));
        if all.len() > MOST {
            let more = all.len() - MOST;
            self.know("not shown here", format!("{more} more: {where_all}"));
        }
    }
}

/// The beginning of a text of several lines, and how much is missing.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let missing = text[end..].chars().count();
            format!("{}… (+{missing} characters)", &text[..end])
        }
    }
}

/// A text that others wrote, as one word of a line: in quotes if it has anything but the letters
/// of a name.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-/+@:=,%~".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}

impl Host {
    /// Adds what the source of an item says, its version, and the verbs that follow from them.
    pub(super) async fn add_evidence(
        &self,
        caller: &Caller,
        item: &mut InboxItem,
    ) -> Result<(), Failure> {
        let mut facts = Facts::default();
        if let Some((edge, sent)) = verbs::edge_of(item) {
            let (edge, sent) = (edge.to_owned(), sent.to_owned());
            self.of_edge(caller, item, (&edge, &sent), &mut facts).await?;
            item.evidence = Some(facts.0);
            return Ok(());
        }
        match item.kind.as_str() {
            kind::LIVE_ASK => self.of_live(caller, item, &mut facts).await?,
            kind::PACKAGE_QUESTION => self.of_question(item, &mut facts).await?,
            kind::STORE_DAMAGE => self.of_damage(item, &mut facts).await?,
            name if name.starts_with("package.") => self.of_package(item, &mut facts).await?,
            name if name.starts_with("task.") => self.of_task(item, &mut facts).await?,
            _ => {}
        }
        item.evidence = Some(facts.0);
        Ok(())
    }

    /// Adds what the hub can decide about an item of an edge. One that ended meanwhile has nothing.
    pub(super) async fn add_decisions(&self, caller: &Caller, item: &mut InboxItem) {
        let Some((edge, sent)) = verbs::edge_of(item) else { return };
        let (Ok(edge), sent) = (EdgeId::new(edge), sent.to_owned()) else { return };
        let project = item.project_id.clone();
        let found = self.memory().edge_item(caller, (&project, &edge), &sent).await;
        item.verbs = found.map(|found| verbs_now(item, &found)).unwrap_or_default();
    }

    /// What the edge sent about it. The hub knows when it came and from whom; the rest is what the
    /// edge says.
    async fn of_edge(
        &self,
        caller: &Caller,
        item: &mut InboxItem,
        (edge, sent): (&str, &str),
        facts: &mut Facts,
    ) -> Result<(), Failure> {
        let Ok(edge) = EdgeId::new(edge) else { return Ok(()) };
        let project = item.project_id.clone();
        let place = (&project, &edge);
        let (of, _) = self.memory().edge(caller, place).await?;
        let found = self.memory().edge_item(caller, place, sent).await?;
        facts.know("edge", format!("{} ({edge})", word(&of.name)));
        facts.know("joined by", of.joined_by.as_deref().unwrap_or("nobody with a key"));
        facts.know("as of", of.last_contact_at.as_str());
        facts.know("sends", of.send.as_str());
        if let Some(decision) = &found.decision {
            let by = format!("{} by {}", decision.verb.as_str(), decision.actor);
            facts.know(&format!("decision, {}", decision.state.as_str()), by);
            if is_open(decision.state) {
                facts.know(verbs::DECISION_ID, &decision.decision_id);
            }
        }
        item.version = found.evidence.clone().or(item.version.take());
        item.verbs = verbs_now(item, &found);
        let where_all = format!("accord project edges {edge} {}", word(sent));
        let body = found.document.unwrap_or_default();
        if let Some(title) = body.get("title").and_then(Value::as_str) {
            facts.claim("title", title);
        }
        if let Some(Value::Object(members)) = body.get("facts").or_else(|| body.get("task")) {
            facts.each(&members_in_words(members), &where_all, |facts, (name, value)| {
                facts.claim(name, value);
            });
        }
        // What a decision runs comes before the files, and is whole.
        for (name, shown) in
            [("commands", "a decision runs the command"), ("hooks", "a decision runs the hook")]
        {
            for one in body.get(name).and_then(Value::as_array).into_iter().flatten() {
                facts.put_within(WHOLE, shown, &plain(one), true);
            }
        }
        claim_files(&body, &where_all, facts);
        if let Some(Value::Object(proposed)) = body.get("proposed") {
            claim_proposed(proposed, facts);
        }
        for (name, shown) in OF_EDGE {
            if let Some(value) = body.get(name).filter(|value| says(value)) {
                facts.claim(shown, in_words(value));
            }
        }
        Ok(())
    }

    async fn of_package(&self, item: &mut InboxItem, facts: &mut Facts) -> Result<(), Failure> {
        let project = item.project_id.clone();
        let Ok(id) = PackageId::new(item.subject.clone()) else { return Ok(()) };
        let units = self.units();
        *facts = units.read(move |unit| package_facts(unit, &project, &id)).await?;
        Ok(())
    }

    /// The row, and what was wrong with it when that was found.
    async fn of_damage(&self, item: &mut InboxItem, facts: &mut Facts) -> Result<(), Failure> {
        let (project, subject) = (item.project_id.clone(), item.subject.clone());
        let Some((suspect, id)) = damage::place(&subject) else { return Ok(()) };
        facts.know("kind of row", suspect.as_str());
        facts.know("row", id);
        let name = damage::note_name(suspect, id);
        let package = PackageId::new(id).ok().filter(|_| suspect == Suspect::Package);
        let units = self.units();
        let read = units.read(move |unit| {
            let scope = Scope::Project(&project);
            if let Some(text) = unit.setting(scope, &name)? {
                return Ok(damage::read_note(&name, &text).map(|(.., cause)| cause));
            }
            let Some(package) = &package else { return Ok(None) };
            // One that cannot be read says nothing.
            let row = unit.package(&project, package).ok().flatten();
            Ok(row.and_then(|row| row.quarantine).map(|held| held.reason))
        });
        if let Some(cause) = read.await? {
            facts.know("cause", cause);
        }
        // No verb: a repair is for a data folder that no server uses, and for its machine.
        facts.know(
            "what helps",
            "accord store repair, where no server uses the data folder, or a restore; then verify",
        );
        Ok(())
    }

    async fn of_question(&self, item: &mut InboxItem, facts: &mut Facts) -> Result<(), Failure> {
        let (project, subject) = (item.project_id.clone(), item.subject.clone());
        let units = self.units();
        let found = units.read(move |unit| {
            let query =
                QuestionQuery { limit: usize::MAX, sources: MOST, ..QuestionQuery::default() };
            let mut questions = unit.questions(&project, &query)?;
            questions.retain(|question| {
                let digest = accord_canon::sha256(question.text.as_bytes()).hex();
                digest.starts_with(&subject)
            });
            Ok(questions.pop())
        });
        let Some(question) = found.await? else { return Ok(()) };
        for package in &question.sources {
            facts.know("asked in", package.as_str());
        }
        for package in &question.answers {
            facts.know("answered before in", package.as_str());
        }
        facts.claim(verbs::QUESTION, &question.text);
        // The whole text: the command looks it up.
        item.verbs = verbs::question(item, &question.text).into_iter().collect();
        Ok(())
    }

    async fn of_live(
        &self,
        caller: &Caller,
        item: &mut InboxItem,
        facts: &mut Facts,
    ) -> Result<(), Failure> {
        let (app, session) =
            (AppId::new(item.project_id.as_str()), SessionId::new(item.subject.clone()));
        let (Ok(app), Ok(session)) = (app, session) else { return Ok(()) };
        let view = self.live().view(caller, &app, &session).await?;
        item.version = view.digest;
        facts.know("session", &item.subject);
        if let Some(ask) = &view.ask {
            facts.know("answers are taken until", ask.until.as_str());
        }
        let shown = view.session;
        if let Some(prompt) = shown.prompt() {
            facts.claim("asks", prompt);
        }
        let props: Vec<_> = shown.props().into_iter().collect();
        let show = format!("accord live open {}", item.subject);
        facts.each(&props, &show, |facts, (name, value)| facts.claim(name, value));
        let actions = shown.actions();
        if !actions.is_empty() {
            item.verbs = actions
                .iter()
                .filter(|it| verbs::own_verb(item, &it.name).is_some())
                .map(|it| verbs::action(item, &it.name, &it.label, it.question.is_some()))
                .collect();
        }
        Ok(())
    }

    async fn of_task(&self, item: &mut InboxItem, facts: &mut Facts) -> Result<(), Failure> {
        let (trees, project) = (self.tasks().clone(), item.project_id.clone());
        let task = item.subject.clone();
        let is_handed = item.kind == kind::TASK_HANDOFF;
        let task_id = task.clone();
        let shown = spawn_blocking(move || {
            let by = By::parse("script:accord", Door::Http)?;
            let tree = trees.get(&project)?;
            let handoff = if is_handed { tree.handoff(&task)? } else { None };
            let shown = tree.show(&task, &ShowQuery { without_body: true }, &by)?;
            Ok::<_, Failure>((shown, handoff))
        });
        let closing = |_| Failure::new(Code::HostClosing, "the server is closing");
        let (shown, handoff) = shown.await.map_err(closing)??;
        if let Some(asked) = handoff {
            facts.claim("handed over by", &asked.from_agent);
            facts.claim("part of", asked.parent_task_id);
            for (name, texts) in [
                ("done when", asked.acceptance_criteria),
                ("expected output", asked.expected_outputs),
                ("read first", asked.context_refs),
                ("must not", asked.constraints),
            ] {
                let texts = texts.unwrap_or_default();
                let show = format!("accord task show {task_id}");
                facts.each(&texts, &show, |facts, text| facts.claim(name, text));
            }
        }
        item.version = Some(shown.evidence.clone());
        item.verbs = verbs::of(item);
        facts.know("status", shown.task.status);
        facts.know("times sent back", shown.reworks);
        let is_said = shown.observed.as_ref().is_some_and(|observed| observed.said_by.is_some());
        if let Some(sandbox) = &shown.sandbox {
            facts.tell(!is_said, "sandbox", sandbox);
        }
        if let Some(observed) = &shown.observed {
            of_run((&task_id, observed), facts);
        }
        let show = format!("accord task show {task_id}");
        facts.each(&shown.findings, &show, |facts, finding| facts.know("look at", finding));
        let outputs = format!("accord task outputs {task_id}");
        facts.each(&shown.outputs, &outputs, |facts, output| {
            facts.know("output", format!("{} ({} bytes)", word(&output.path), output.bytes));
        });
        if let Some(reason) = &shown.task.block_reason {
            facts.claim("blocked because", reason);
        }
        facts.claim("task", &shown.task.title);
        Ok(())
    }
}

/// What a person can do about an item of an edge: decide, or take back what was decided and waits
/// for the edge.
fn verbs_now(item: &InboxItem, found: &EdgeItem) -> Vec<InboxVerb> {
    match found.decision.as_ref().filter(|decision| is_open(decision.state)) {
        Some(decision) => {
            verbs::withdraw(item, decision.decision_id.as_str()).into_iter().collect()
        }
        None => verbs::decisions(item, found.verbs.as_deref().unwrap_or_default()),
    }
}

/// What was seen of the run of an agent. What another machine says is a claim.
fn of_run((task, observed): (&str, &TaskObserved), facts: &mut Facts) {
    let is_here = observed.said_by.is_none();
    if let Some(said) = said_line(observed) {
        facts.know("said by", said);
    }
    let show = format!("accord task show {task}");
    facts.each(&observed.checks, &show, |facts, check| {
        let ended = check.exit_code.map(|code| format!("exit {code}"));
        let ended = ended.or_else(|| check.problem.clone()).unwrap_or_default();
        let ran_here = is_here || observed.checked_here == Some(true);
        let argv: Vec<String> = check.argv.iter().map(|one| word(one)).collect();
        facts.tell(ran_here, "check", format!("{}: {ended}", argv.join(" ")));
    });
    if !observed.files.is_empty() {
        let files: Vec<String> = observed.files.iter().map(|file| word(file)).collect();
        facts.put_within(WHOLE, "changed files", &files.join(", "), !is_here);
    }
    if observed.changes.is_some() {
        facts.know("what changed", format!("accord task outputs {task} --diff"));
    }
}

/// The files that an edge says were changed: all names, and the differences of the first ones.
fn claim_files(body: &Object, where_all: &str, facts: &mut Facts) {
    let files = body.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut differences = 0;
    for file in files {
        let text = |name: &str| file.get(name).map(plain).unwrap_or_default();
        let hash = text("sha256").chars().take(12).collect::<String>();
        let said = format!("{} {} bytes {hash}", word(&text("path")), text("size"));
        facts.put_within(WHOLE, "file", &said, true);
        if let Some(diff) = file.get("diff").and_then(Value::as_str) {
            differences += 1;
            if differences <= MOST {
                facts.claim("difference", diff);
            }
        }
    }
    if differences > MOST {
        let more = differences - MOST;
        facts.know("not shown here", format!("{more} more differences: {where_all}"));
    }
}

/// What a turn of an edge proposes to change.
fn claim_proposed(proposed: &Object, facts: &mut Facts) {
    if let Some(summary) = proposed.get("summary").and_then(Value::as_str) {
        facts.claim("summary", summary);
    }
    let files = proposed.get("files").and_then(Value::as_array);
    for file in files.into_iter().flatten() {
        let text = |name: &str| file.get(name).map(plain).unwrap_or_default();
        let hash = text("sha256").chars().take(12).collect::<String>();
        let said = format!("{} {} {hash}", text("action"), word(&text("path")));
        facts.put_within(WHOLE, "proposes to", said.trim_end(), true);
    }
    if let Some(hidden) = proposed.get("hidden").and_then(Value::as_u64).filter(|it| *it > 0) {
        facts.claim("proposed files left out", hidden.to_string());
    }
}

/// Whether a value says anything: an empty list of warnings does not.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// A value as people read it: a text without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn package_facts(
    unit: &dyn ReadUnit,
    project: &accord_base::ProjectId,
    id: &PackageId,
) -> UnitResult<Facts> {
    let mut facts = Facts::default();
    let Some(row) = unit.package(project, id).map_err(UnitError::from)? else { return Ok(facts) };
    facts.know("package", row.package_id.as_str());
    facts.know("by", &row.actor);
    facts.know("deposited", row.deposited_at.as_str());
    facts.know("type", row.package_type.as_str());
    facts.know("significance", row.significance.number());
    facts.know("revision", row.state.revision);
    for entry in unit.revisions(project, id)? {
        let Ok(entry) = serde_json::from_str::<Value>(&entry.text) else { continue };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(note) = entry["note"].as_str() {
            let (kind, by) = (text(&entry["actor"]["type"]), text(&entry["actor"]["id"]));
            let (status, at) = (text(&entry["status"]), text(&entry["at"]));
            facts.claim(&format!("note of {kind}:{by}, {status}, {at}"), note);
        }
    }
    if let Ok(document) = serde_json::from_str::<Value>(&row.state.text) {
        for (member, name) in [
            ("title", "title"),
            ("context_summary", "summary"),
            ("decisions_made", "decision"),
            ("open_questions", "open question"),
            ("handoff_note", "handoff note"),
            ("deliverables", "deliverable"),
        ] {
            match &document[member] {
                Value::String(text) => facts.claim(name, text),
                Value::Array(items) => {
                    let pull = format!("accord context pull {}", id.as_str());
                    facts.each(items, &pull, |facts, item| facts.claim(name, plain(item)));
                }
                _ => {}
            }
        }
    }
    Ok(facts)
}

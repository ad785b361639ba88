//! The answer of a person leaves a package: to a question of `accord live ask`, and to another one
//! whose contract says `x-keep: true`. It answers the open question of the memory that has the same
//! text.
//!
//! The source is the record of the decision. The transaction that records it also says that it
//! waits, until the package is stored.

use std::sync::{Arc, Weak};
use std::time::Duration;

use accord_base::decision::DecisionRecord;
use accord_base::excerpt::one_line;
use accord_contract::{Failure, Value};
use accord_live_core::session::package_id;
use accord_memory::FlowPackage;
use accord_memory_core::package::ANSWERS;
use accord_store::{Advance, Listener, LiveAdvance, WaitingFlow};
use accord_system::spawn_blocking;
use serde_json::json;
use tokio::sync::Notify;

use super::{APPROVED_BY, SOURCE, has, without_credentials};
use crate::http::Host;

/// How long answers are collected before one look.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest line about an answer, in characters.
const LINE: usize = 120;

/// The field of a text.
const ANSWER: &str = "answer";

/// Is notified that sessions changed.
#[derive(Default)]
struct Answered(Notify);

impl Listener for Answered {
    fn committed(&self, _: &[Advance]) {}

    fn live_committed(&self, _: &[LiveAdvance]) {
        self.0.notify_one();
    }
}

/// Keeps answers until the host closes.
pub(crate) async fn keep_answers(host: Host) {
    let answered = Arc::new(Answered::default());
    let listener: Arc<dyn Listener> = Arc::clone(&answered) as _;
    host.engine().subscribe(Arc::downgrade(&listener) as Weak<dyn Listener>);
    let closed = host.streams().closed();
    tokio::pin!(closed);
    loop {
        tokio::select! {
            () = answered.0.notified() => {}
            _ = &mut closed => return,
        }
        tokio::time::sleep(PAUSE).await;
        let keeping = host.clone();
        drop(spawn_blocking(move || keeping.keep_answers()).await);
    }
}

impl Host {
    /// Keeps the answers that wait. Those that cannot be kept now wait for the next call.
    pub(crate) fn keep_answers(&self) {
        if !self.has_store() {
            return;
        }
        let keep = || -> Result<(), Failure> {
            for (waiting, record) in self.memory().waiting_flows()? {
                let is_off = has(&self.settings().flows.live_off, waiting.project.as_str());
                let record = record.filter(|_| !is_off);
                let document = record.and_then(|record| package(&waiting, &record));
                let package = document.and_then(|document| {
                    FlowPackage::new(&document)
                        .inspect_err(|failure| {
                            tracing::error!(code = %failure.code, "no package: {failure}");
                        })
                        .ok()
                });
                self.memory().settle_flow(&waiting, package)?;
            }
            Ok(())
        };
        if let Err(failure) = keep() {
            tracing::warn!(code = %failure.code, "answers wait: {}", failure.message);
        }
    }
}

/// The package that follows from the record of an answer.
fn package(waiting: &WaitingFlow, record: &DecisionRecord) -> Option<Value> {
    let kept: Value = serde_json::from_str(&waiting.text).ok()?;
    let text = |name: &str| kept.get(name).and_then(Value::as_str).unwrap_or_default();
    let (question, label) = (text("question"), text("label"));
    let entered = kept.get("data").map(lines).unwrap_or_default();
    let answer = match entered.is_empty() {
        true => label.to_owned(),
        false => one_line(&entered.join(", "), LINE),
    };
    let first = one_line(question.lines().next().unwrap_or_default(), LINE);
    let id = package_id(&record.decision_id);
    let at = record.decided_at.as_str();
    let title = super::title(&format!("{first} {answer}"));
    let mut package = super::package(&id, waiting.project.as_str(), &title, at);
    package["package_type"] = "decision".into();
    let mut said = vec![format!("{} was asked: {question}", record.actor)];
    said.push(match entered.is_empty() {
        true => format!("The answer: {label}"),
        false => format!("The answer:\n{}", entered.join("\n")),
    });
    if kept.get("left_out").is_some() {
        said.push("What was entered is left out: it is secret, or too long.".to_owned());
    }
    package["description"] = without_credentials(&said.join("\n\n")).into();
    let decided =
        format!("{}: {answer}", question.split_whitespace().collect::<Vec<_>>().join(" "));
    package["decisions_made"] = json!([without_credentials(&decided)]);
    package["tags"] = json!(["live"]);
    let is_refused = kept.get("refused").is_some();
    if !is_refused && !question.trim().is_empty() {
        package[ANSWERS] = json!([{"question": question}]);
    }
    package[APPROVED_BY] = record.actor.as_str().into();
    package[SOURCE] = json!({
        "protocol": "live",
        "kind": record.kind,
        "session_id": record.subject.split('/').next(),
        "decision_id": record.decision_id.as_str(),
    });
    Some(package)
}

/// What was entered, a line for each field.
fn lines(data: &Value) -> Vec<String> {
    let written = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match data {
        // The only field of a question without options.
        Value::Object(fields) if fields.len() == 1 && fields.contains_key(ANSWER) => {
            vec![written(&fields[ANSWER])]
        }
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, value)| format!("{name}: {}", written(value)));
            lines.collect()
        }
        Value::Null => Vec::new(),
        other => vec![written(other)],
    }
}

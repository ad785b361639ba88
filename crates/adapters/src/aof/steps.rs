//! Steps in the folder of a case.

use std::path::Path;
use std::sync::Arc;

use accord_base::{By, Door};
use accord_contract::{Code, Failure, Time};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::operations::{
    ApplyMode, ClaimRequest, CreateRequest, HeartbeatRequest, InitRequest, PollRequest, ReviewMode,
    SessionEndRequest,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub(super) struct Work {
    root: String,
    tree: Tree,
    clock: Clock,
}

#[derive(Clone)]
struct Clock(Arc<Mutex<Time>>);

/// Why a step has no answer.
pub(super) enum Trouble {
    /// Accord does not have what the step asks for.
    NotImplemented(String),
    /// The step is not understood, or the tree cannot be used.
    Error(String),
}

pub(super) fn perform(work: &mut Option<Work>, request: &Value) -> Result<Value, Trouble> {
    let action = text(request, "do")?;
    match action {
        "describe" => {
            return Ok(json!({"status": "ok", "name": "accord", "places": {"runs": "runs"}}));
        }
        "close" => {
            *work = None;
            return Ok(json!({"status": "ok"}));
        }
        "open" => *work = Some(open(request)?),
        _ => {}
    }
    let root = text(request, "root")?;
    let Some(work) = work.as_mut().filter(|work| work.root == root) else {
        return Err(Trouble::Error(format!("{root} was not opened")));
    };
    work.clock.set(request)?;
    let args = &request["args"];
    match action {
        "open" => Ok(json!({"status": "ok"})),
        "deliver" => answer(work.tree.message(&args["input"], &script()?), |done| {
            let is_ignored = done.reason.as_deref() == Some("not_protocol");
            let outcome = if is_ignored { "ignored" } else { "accepted" };
            let notified: Vec<&str> =
                done.notices.iter().map(|each| each.status.as_str()).collect();
            json!({"outcome": outcome, "notified": notified})
        }),
        "session_end" => {
            let ended = work.tree.session_end(&SessionEndRequest::default(), &script()?);
            answer(ended, |_| json!({"outcome": "accepted"}))
        }
        "poll" => {
            let poll = PollRequest { max_start: Some(0) };
            answer(work.tree.poll(&poll, &script()?), |_| json!({"outcome": "accepted"}))
        }
        "claim" => {
            let by = by(text(args, "agent")?)?;
            let claimed = work.tree.claim(text(args, "task")?, &ClaimRequest::default(), &by);
            answer(claimed, |_| json!({"outcome": "accepted"}))
        }
        "heartbeat" => {
            let by = by(text(args, "agent")?)?;
            let beat = work.tree.heartbeat(text(args, "task")?, &HeartbeatRequest::default(), &by);
            answer(beat, |_| json!({"outcome": "accepted"}))
        }
        "create" => {
            let new = CreateRequest {
                title: text(args, "title")?.to_owned(),
                agent: args["agent"].as_str().map(str::to_owned),
                ..CreateRequest::default()
            };
            answer(
                work.tree.create(&new, &script()?),
                |created| json!({"outcome": "accepted", "task": created.task.id.to_string()}),
            )
        }
        other => Err(Trouble::NotImplemented(format!("there is no action {other:?} here"))),
    }
}

/// Opens the tree of a case with its settings. Without any, reviews follow the guide.
fn open(request: &Value) -> Result<Work, Trouble> {
    let root = text(request, "root")?;
    let clock = Clock(Arc::new(Mutex::new(time(request)?)));
    let now = clock.clone();
    let environment = Environment::new(move || now.get(), accord_system::random::<16>, BOOT);
    let tree = Tree::open(Path::new(root), PROJECT, environment).map_err(error)?;
    let (apply, review) = (Some(ApplyMode::AtOnce), Some(ReviewMode::Guide));
    let mut init = InitRequest { apply, review, ..InitRequest::default() };
    for (name, value) in request["settings"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        let is_known = match name.as_str() {
            "apply" => {
                init.apply = ApplyMode::parse(value);
                init.apply.is_some()
            }
            "review" => {
                init.review = ReviewMode::parse(value);
                init.review.is_some()
            }
            _ => false,
        };
        if !is_known {
            return Err(Trouble::NotImplemented(format!("there is no setting {name}: {value}")));
        }
    }
    tree.init(&init, &by("human:reviewer")?).map_err(error)?;
    Ok(Work { root: root.to_owned(), tree, clock })
}

/// The answer of a service, in the words of the kit.
fn answer<T>(
    answered: Result<T, Failure>,
    report: impl FnOnce(T) -> Value,
) -> Result<Value, Trouble> {
    let mut answer = match answered.map_err(|failure| (failure.code, failure)) {
        Ok(done) => report(done),
        Err((Code::AofTaskTreeUnavailable | Code::AofTaskChangeUnconfirmed, failure)) => {
            return Err(error(failure));
        }
        Err((code, _)) => json!({"outcome": "rejected", "reason": code.as_str()}),
    };
    answer["status"] = "ok".into();
    Ok(answer)
}

impl Clock {
    fn get(&self) -> Time {
        *self.0.lock()
    }

    fn set(&self, request: &Value) -> Result<(), Trouble> {
        *self.0.lock() = time(request)?;
        Ok(())
    }
}

fn time(request: &Value) -> Result<Time, Trouble> {
    let clock = text(request, "clock")?;
    Time::parse_rfc3339(clock).ok_or_else(|| Trouble::Error(format!("{clock:?} is no time")))
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, Trouble> {
    value[name].as_str().ok_or_else(|| Trouble::Error(format!("{name} must be a string")))
}

/// The program that passes messages on.
fn script() -> Result<By, Trouble> {
    by("script:conformance")
}

fn by(actor: &str) -> Result<By, Trouble> {
    By::parse(actor, Door::Message).map_err(error)
}

fn error(failure: Failure) -> Trouble {
    Trouble::Error(failure.to_string())
}

const PROJECT: &str = "shop";
/// All steps of a case happen in one start of the machine.
const BOOT: &str = "conformance";

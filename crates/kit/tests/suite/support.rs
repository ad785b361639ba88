//! A small protocol `demo`, and adapters for it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use accord_contract::fixture::AdapterResult;
use accord_kit::driver::{Adapter, InProcess, LongLived, PerCase};
use accord_kit::report::CaseReport;
use accord_kit::{Case, Corpus, Event, Protocol, Reporter, RunOptions, RunReport};
use accord_process::Invocation;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) fn clauses() -> Value {
    let clause = |id: &str, strength: &str| {
        json!({"id": id, "strength": strength,
        "text": format!("text of {id}"), "source": "chapter 1"})
    };
    json!({"protocol": "demo", "version": "3.0", "levels": ["core", "registry"],
        "oracles": ["node"], "clauses": [
        clause("DEMO-1", "must"), clause("DEMO-2", "should"), clause("DEMO-3", "may"),
    ]})
}

pub(crate) fn operations() -> Value {
    json!({"operations": {
        "echo": {"summary": "Says it again.", "setup": ["registered"], "args": {
            "text": {"type": "string", "required": true, "about": "what to say"},
            "times": {"type": "integer", "required": false, "about": "how often"},
        }, "result": ["text", "cid", "hash", "list", "long"]},
        "noop": {"summary": "Does nothing.", "setup": [], "args": {}, "result": ["text"]},
    }})
}

/// A sound case; `id` is below `demo/`.
pub(crate) fn case(id: &str) -> Value {
    json!({
        "id": format!("demo/{id}"),
        "protocol": "demo",
        "level": "core",
        "strength": "must",
        "clauses": ["DEMO-1"],
        "title": "What is said comes back.",
        "setup": {},
        "input": {"operation": "echo", "args": {"text": id}},
        "expected": {"result": "ok", "text": id},
    })
}

/// The same case with some members replaced.
pub(crate) fn changed(mut case: Value, changes: Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        case[key] = value.clone();
    }
    case
}

/// Writes a corpus with these cases; each lies where its id says.
pub(crate) fn write_corpus(cases: &[Value]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "demo/clauses.json", &clauses().to_string());
    put(folder.path(), "demo/operations.json", &operations().to_string());
    for case in cases {
        let path = format!("{}.json", case["id"].as_str().unwrap());
        put(folder.path(), &path, &case.to_string());
    }
    folder
}

pub(crate) fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A sound protocol with these cases.
pub(crate) fn demo(cases: &[Value]) -> Protocol {
    let folder = write_corpus(cases);
    Corpus::from_dir(folder.path()).unwrap().protocol("demo").unwrap().clone()
}

pub(crate) fn shell(script: &str) -> Invocation {
    Invocation::new("/bin/sh", ["-c", script])
}

/// An implementation that does what every case of the demo expects.
pub(crate) fn honest() -> impl Adapter {
    InProcess::new(|case: &Case| AdapterResult::judge(&case.expectation(), honest_outcome(case)))
}

pub(crate) fn honest_outcome(case: &Case) -> Value {
    json!({"result": "ok", "text": case.argument("text")})
}

/// An implementation that answers everything with the same outcome.
pub(crate) fn stubborn() -> impl Adapter {
    InProcess::new(|case: &Case| {
        AdapterResult::judge(&case.expectation(), json!({"result": "ok", "text": "no"}))
    })
}

/// Runs one case that expects `{"result": "ok"}` with one process for it.
pub(crate) fn one_process(script: &str, options: &RunOptions) -> CaseReport {
    one(&PerCase::new(shell(script)), options)
}

/// Runs one case that expects `{"result": "ok"}` in lines mode.
pub(crate) fn one_line(script: &str, options: &RunOptions) -> CaseReport {
    one(&LongLived::new(shell(script)), options)
}

fn one(adapter: &dyn Adapter, options: &RunOptions) -> CaseReport {
    let protocol = demo(&[changed(case("area/one"), json!({"expected": {"result": "ok"}}))]);
    let mut report = run(&protocol, adapter, options);
    report.cases.remove(0)
}

/// Options with more time than any sound case needs on a busy machine.
pub(crate) fn patient() -> RunOptions {
    let mut options = RunOptions::default();
    options.case_timeout = Duration::from_secs(120);
    options
}

/// Options for adapters that hang, with enough time for a shell to get to that point.
pub(crate) fn hasty() -> RunOptions {
    let mut options = RunOptions::default();
    options.case_timeout = Duration::from_secs(3);
    options
}

pub(crate) fn run(protocol: &Protocol, adapter: &dyn Adapter, options: &RunOptions) -> RunReport {
    accord_kit::run(protocol, adapter, options, &mut Silent).unwrap()
}

/// Runs a test of this binary again in a process of its own, after these words of a shell: for what
/// changes the process as a whole. Tells the test whether it is in that process.
pub(crate) fn in_own_process(test: &str, before: &str) -> bool {
    const MARK: &str = "ACCORD_KIT_OWN_PROCESS";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let script = format!("{before}; exec \"$0\" --exact \"$1\" --nocapture");
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(MARK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    false
}

/// Hears nothing.
pub(crate) struct Silent;

impl Reporter for Silent {
    fn report(&mut self, _: &Event<'_>) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn verdicts(report: &RunReport) -> Vec<(&str, &str)> {
    let cases = report.cases.iter();
    cases.map(|case| (case.id.as_str(), case.verdict.as_str())).collect()
}

//! Cases that are judged by a folder.

use std::fs;
use std::path::PathBuf;

use accord_contract::fixture::{AdapterResult, Status};
use accord_kit::driver::{Answer, InProcess, LongLived, PerCase};
use accord_kit::report::CaseReport;
use accord_kit::verdict::Verdict;
use accord_kit::{Corpus, Protocol};
use serde_json::{Value, json};

use crate::support::{changed, clauses, patient, put, run, shell};

fn operations() -> Value {
    json!({
        "operations": {
            "write": {"summary": "Writes a file.", "setup": [], "args": {
                "path": {"type": "string", "required": true, "about": "the path"},
                "text": {"type": "string", "required": true, "about": "the text"},
            }, "result": ["outcome"]},
            "wait": {"summary": "Never ends.", "setup": [], "args": {}, "result": []},
        },
        "places": {"notes": {"about": "where notes are", "values": ["notes", "state/notes"]}},
        "settings": {"mode": {"about": "a mode", "values": ["plain", "odd"]}},
    })
}

/// A case with one file, one step and one check.
fn case() -> Value {
    json!({
        "id": "demo/area/one",
        "protocol": "demo",
        "level": "core",
        "strength": "must",
        "clauses": ["DEMO-1"],
        "title": "A file is written.",
        "clock": "2026-02-09T21:00:00.000Z",
        "files": {"a.txt": "old\n", "${notes}/": []},
        "steps": [write("b.txt", "new", json!([{"path": "b.txt", "text": "new"}]))],
    })
}

fn write(path: &str, text: &str, check: Value) -> Value {
    json!({"do": "write", "args": {"path": path, "text": text}, "check": check})
}

fn with_steps(steps: Value) -> Value {
    changed(case(), json!({"steps": steps}))
}

fn corpus(case: &Value) -> Result<Protocol, String> {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "demo/clauses.json", &clauses().to_string());
    put(folder.path(), "demo/operations.json", &operations().to_string());
    put(folder.path(), "demo/area/one.json", &case.to_string());
    let corpus = Corpus::from_dir(folder.path()).map_err(|error| error.to_string())?;
    Ok(corpus.protocol("demo").unwrap().clone())
}

/// An implementation that writes what it is asked to write.
fn writer() -> Box<Answer> {
    Box::new(|request: &Value| {
        let root = PathBuf::from(request["root"].as_str().unwrap());
        match request["do"].as_str().unwrap() {
            "describe" => json!({"status": "ok", "places": {"notes": "state/notes"}}),
            "open" if request["settings"]["mode"] == "odd" => {
                json!({"status": "not_implemented", "message": "no odd mode"})
            }
            "write" => {
                let text = request["args"]["text"].as_str().unwrap();
                let text = text.replace("NOW", request["clock"].as_str().unwrap());
                fs::write(root.join(request["args"]["path"].as_str().unwrap()), text).unwrap();
                json!({"status": "ok", "outcome": "written"})
            }
            "wait" => json!({"status": "error", "message": "cannot wait"}),
            _ => json!({"status": "ok"}),
        }
    })
}

fn judged(case: &Value) -> CaseReport {
    let none = AdapterResult::without_outcome(Status::Error, "there are no calls");
    let adapter = InProcess::new(move |_: &_| none.clone()).in_folders(|_| writer());
    let mut report = run(&corpus(case).unwrap(), &adapter, &patient());
    report.cases.remove(0)
}

fn verdict(case: &Value) -> Verdict {
    judged(case).verdict
}

/// The verdict on one check, after a file `b.txt` with a text was written.
fn check(text: &str, check: Value) -> Verdict {
    verdict(&with_steps(json!([write("b.txt", text, json!([check]))])))
}

#[test]
fn the_folder_decides_not_the_answer() {
    assert_eq!(verdict(&case()), Verdict::Pass);
    let other = write("b.txt", "other", json!([{"path": "b.txt", "text": "new"}]));
    let report = judged(&with_steps(json!([other])));
    assert_eq!(report.verdict, Verdict::Fail);
    assert_eq!(report.step.as_deref(), Some("step 1 of 1: write"));
    assert_eq!(report.differences[0].pointer, "b.txt#");
}

#[test]
fn an_answer_is_compared_as_far_as_it_is_given() {
    let mut step = write("b.txt", "new", json!([{"path": "b.txt"}]));
    step["answer"] = json!({"outcome": "written"});
    assert_eq!(verdict(&with_steps(json!([step]))), Verdict::Pass);
    step["answer"] = json!({"outcome": "refused"});
    assert_eq!(verdict(&with_steps(json!([step]))), Verdict::Fail);
}

#[test]
fn texts_documents_and_front_matters_are_read() {
    assert_eq!(check("a b a", json!({"path": "b.txt", "has": ["b"], "lacks": ["c"]})), PASS);
    assert_eq!(check("a b a", json!({"path": "b.txt", "has": ["c"]})), FAIL);
    assert_eq!(check("a b a", json!({"path": "b.txt", "lacks": ["b"]})), FAIL);
    let times = |count: u64| json!({"path": "b.txt", "times": [{"text": "a", "times": count}]});
    assert_eq!((check("a b a", times(2)), check("a b a", times(1))), (PASS, FAIL));
    let json = |value: Value| json!({"path": "b.txt", "json": value});
    assert_eq!(check("{\"a\": 1, \"b\": 2}", json(json!({"a": 1}))), PASS);
    assert_eq!(check("{\"a\": 1", json(json!({"a": 1}))), FAIL);
    assert_eq!(check("{\"a\": 2}", json(json!({"a": 1}))), FAIL);
    let front = |value: Value| json!({"path": "b.txt", "front": value});
    assert_eq!(check("---\na: '1'\n---\n\nx\n", front(json!({"a": "1"}))), PASS);
    assert_eq!(check("---\na: 1\n---\n\nx\n", front(json!({"a": "1"}))), FAIL);
    assert_eq!(check("a: '1'\n", front(json!({"a": "1"}))), FAIL);
}

#[test]
fn a_pattern_finds_files_within_one_name() {
    assert_eq!(check("x", json!({"path": "*.txt", "text": "x"})), FAIL);
    assert_eq!(check("x", json!({"path": "b*", "only": "*.md"})), PASS);
    assert_eq!(check("x", json!({"path": "b.txt", "only": "*.txt"})), FAIL);
    assert_eq!(check("x", json!({"path": "c.txt", "absent": true})), PASS);
    assert_eq!(check("x", json!({"path": "?.txt", "absent": true})), FAIL);
    assert_eq!(check("x", json!({"path": "c.txt"})), FAIL);
}

#[test]
fn files_that_must_not_change_are_compared_with_those_before_the_step() {
    let unchanged = |path: &str| json!([{"path": path, "unchanged": true}]);
    assert_eq!(verdict(&with_steps(json!([write("b.txt", "x", unchanged("a.txt"))]))), PASS);
    assert_eq!(verdict(&with_steps(json!([write("a.txt", "x", unchanged("a.txt"))]))), FAIL);
    assert_eq!(verdict(&with_steps(json!([write("b.txt", "x", unchanged("*.txt"))]))), FAIL);
    assert_eq!(verdict(&with_steps(json!([write("a.txt", "old\n", unchanged("*.txt"))]))), PASS);
}

#[test]
fn lines_are_found_in_order_counted_and_missed() {
    let log = "{\"n\":1}\nbroken\n{\"n\":2}\n{\"n\":1}\n";
    let lines = |check: Value| json!({"path": "b.*", "lines": check});
    for (check_of_lines, expected) in [
        (json!({"order": [{"n": 1}, {"n": 2}, {"n": 1}]}), PASS),
        (json!({"order": [{"n": 2}, {"n": 2}]}), FAIL),
        (json!({"some": [{"n": 2}]}), PASS),
        (json!({"some": [{"n": 3}]}), FAIL),
        (json!({"none": [{"n": 3}]}), PASS),
        (json!({"none": [{"n": 2}]}), FAIL),
        (json!({"times": [{"line": {"n": 1}, "times": 2}]}), PASS),
        (json!({"times": [{"line": {"n": 1}, "times": 1}]}), FAIL),
    ] {
        assert_eq!(check(log, lines(check_of_lines.clone())), expected, "{check_of_lines}");
    }
}

#[test]
fn one_of_several_lists_of_checks_must_hold() {
    let either = |one: &str, other: &str| {
        let list = |text: &str| json!({"check": [{"path": "b.txt", "text": text}]});
        let mut step = write("b.txt", "new", json!([]));
        step["either"] = json!([list(one), list(other)]);
        verdict(&with_steps(json!([step])))
    };
    assert_eq!((either("x", "new"), either("x", "y")), (PASS, FAIL));
}

#[test]
fn steps_have_a_clock_places_and_captured_values() {
    let mut first = write("b.txt", "{\"at\":\"NOW\"}", json!([]));
    first["clock"] = json!("2026-02-09T22:00:00.000Z");
    first["capture"] = json!({"at": "b.txt#/at"});
    let check = json!([{"path": "state/notes/c.txt", "text": "2026-02-09T22:00:00.000Z"}]);
    let mut second = write("${notes}/c.txt", "${at}", check);
    second["write"] = json!({"a.txt": null, "d.txt": ["${at}"]});
    let third = json!({"check": [{"path": "a.txt", "absent": true},
        {"path": "d.txt", "text": "2026-02-09T22:00:00.000Z"}]});
    assert_eq!(verdict(&with_steps(json!([first, second, third]))), PASS);
    let mut repeated = write("b${n}.txt", "no ${n}", json!([{"path": "b3.txt", "text": "no 3"}]));
    repeated["repeat"] = json!(3);
    assert_eq!(verdict(&with_steps(json!([repeated]))), PASS);
}

#[test]
fn an_implementation_says_what_it_lacks() {
    let odd = changed(case(), json!({"settings": {"mode": "odd"}}));
    let report = judged(&odd);
    assert_eq!(report.verdict, Verdict::NotImplemented);
    assert_eq!(report.message.as_deref(), Some("open: no odd mode"));
    let step = json!([{"do": "wait", "check": [{"path": "a.txt"}]}]);
    assert_eq!(verdict(&with_steps(step)), Verdict::Error);
}

/// Answers every request, and appends each to a file in the folder, with its own process id.
const LOGGER: &str = r#"
while read -r line; do
    root=${line#*\"root\":\"}; root=${root%%\"*}
    case "$line" in *'"do":"wait"'*) echo "begun" >> "$root/log"; sleep 60;; esac
    echo "{\"pid\":$$}" >> "$root/log.jsonl"
    printf '{"status":"ok"}\n'
done"#;

fn killed(step: Value) -> Value {
    let lines = json!({"path": "log.jsonl", "lines": {"some": [{"pid": {"assert": "present"}}]}});
    let steps = json!([step, {"capture": {"second": "last.json#/pid"}, "check": [lines]}]);
    changed(case(), json!({"steps": steps, "files": {"last.json": {"pid": 1}}}))
}

#[test]
fn a_process_is_killed_and_started_again_on_the_same_folder() {
    let plain = json!({"do": "write", "args": {"path": "x", "text": "y"}, "kill": true});
    let during = json!({"do": "wait", "kill_after_ms": 200,
        "check": [{"path": "log", "text": "begun"}]});
    for step in [plain, during] {
        let keep = tempfile::tempdir().unwrap();
        let adapter = LongLived::new(shell(LOGGER)).keep_folders(keep.path().to_owned());
        let report = run(&corpus(&killed(step)).unwrap(), &adapter, &patient());
        assert_eq!(report.cases[0].verdict, PASS, "{:?}", report.cases[0]);
        let log = fs::read_to_string(keep.path().join("demo/area/one/log.jsonl")).unwrap();
        let mut pids: Vec<&str> = log.lines().collect();
        pids.dedup();
        assert_eq!(pids.len(), 2, "{log}");
    }
}

#[test]
fn one_process_per_case_has_the_same_conversation() {
    let step = json!({"do": "write", "args": {"path": "x", "text": "y"}, "kill": true,
        "check": [{"path": "log.jsonl"}]});
    let adapter = PerCase::new(shell(LOGGER));
    let report = run(&corpus(&with_steps(json!([step]))).unwrap(), &adapter, &patient());
    assert_eq!(report.cases[0].verdict, PASS, "{:?}", report.cases[0]);
}

#[test]
fn a_process_that_breaks_off_is_an_error_of_its_case() {
    for script in ["exit 3", "read -r line; echo no", "read -r line; echo '{\"status\":\"fine\"}'"]
    {
        let report = run(&corpus(&case()).unwrap(), &LongLived::new(shell(script)), &patient());
        assert_eq!(report.cases[0].verdict, Verdict::Error, "{script}");
    }
    let script = "read -r line; echo '{\"status\":\"ok\",\"places\":{\"notes\":\"/etc\"}}'";
    let report = run(&corpus(&case()).unwrap(), &LongLived::new(shell(script)), &patient());
    let message = report.cases[0].message.clone().unwrap_or_default();
    assert!(message.contains("the place notes is \"/etc\""), "{message}");
}

#[test]
fn mistakes_in_a_case_are_found_when_it_is_read() {
    let step = |changes: Value| with_steps(json!([changed(case()["steps"][0].clone(), changes)]));
    let checked = |check: Value| step(json!({"check": [check]}));
    for (case, place) in [
        (changed(case(), json!({"clock": "noon"})), "/clock"),
        (changed(case(), json!({"settings": {"mode": "wild"}})), "/settings/mode"),
        (changed(case(), json!({"settings": {"tempo": "x"}})), "/settings/tempo"),
        (changed(case(), json!({"files": {"../a": "x"}})), "/files/"),
        (changed(case(), json!({"files": {"a": 7}})), "/files/a"),
        (with_steps(json!([{"do": "write", "args": {"path": "a", "text": "b"}}])), "/steps"),
        (step(json!({"do": "fly"})), "/steps/0/do"),
        (step(json!({"args": {"path": "a"}})), "/steps/0/args/text"),
        (step(json!({"args": {"path": "a", "text": 1}})), "/steps/0/args/text"),
        (step(json!({"args": {"path": "a", "text": "${b}"}})), "/steps/0/args/text"),
        (step(json!({"answer": {"mood": 1}})), "/steps/0/answer/mood"),
        (step(json!({"kill": true, "kill_after_ms": 1})), "/steps/0"),
        (checked(json!({"path": "/etc/passwd"})), "/steps/0/check/0/path"),
        (checked(json!({"path": "a", "absent": true, "text": "x"})), "/steps/0/check/0"),
        (checked(json!({"path": "a", "json": {"assert": "like"}})), "/steps/0/check/0/json"),
        (checked(json!({"path": "a", "has": ["${b}"]})), "/steps/0/check/0"),
    ] {
        let error = corpus(&case).unwrap_err();
        assert!(error.contains(place), "{place}: {error}");
    }
}

const PASS: Verdict = Verdict::Pass;
const FAIL: Verdict = Verdict::Fail;

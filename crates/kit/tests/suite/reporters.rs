//! One run as text, JSON, JUnit XML and lines of JSON.

use accord_contract::fixture::{AdapterResult, Status};
use accord_contract::{Field, Wire as _};
use accord_kit::driver::{Adapter, InProcess};
use accord_kit::event::EventLine;
use accord_kit::reporter::{
    JsonReporter, JunitReporter, NdjsonReporter, TextOptions, TextReporter,
};
use accord_kit::{Baseline, Case, Reporters, RunOptions, RunReport, run};
use serde_json::{Value, json};

use crate::support::{case, changed, demo, honest, patient};

struct Output {
    text: String,
    json: String,
    junit: String,
    ndjson: String,
}

/// One case of every kind, reported by four reporters at once.
fn output(options: &RunOptions, text: TextOptions) -> Output {
    let protocol = demo(&[
        case("area/a-pass"),
        case("area/b-fail"),
        case("area/c-error"),
        case("area/d-missing"),
        case("area/e-known"),
        changed(case("area/f-soft"), json!({"strength": "should", "clauses": ["DEMO-2"]})),
        changed(case("other/g-skip"), json!({"level": "registry"})),
    ]);
    let adapter = InProcess::new(|case: &Case| match &case.id[10..11] {
        "a" => AdapterResult::judge(&case.expectation(), case.expectation()),
        "b" => {
            let mut result = AdapterResult::judge(&case.expectation(), json!({"result": "no"}));
            result.message = Field::Value("the tide <is> out".to_owned());
            result
        }
        "c" => AdapterResult::without_outcome(Status::Error, "out of <memory>\u{1}"),
        "d" => AdapterResult::without_outcome(Status::NotImplemented, "later"),
        _ => AdapterResult::judge(&case.expectation(), json!({"result": "no"})),
    });
    let mut sinks: [Vec<u8>; 4] = Default::default();
    let [one, two, three, four] = &mut sinks;
    let mut reporters = Reporters(vec![
        Box::new(TextReporter::new(one, text)),
        Box::new(JsonReporter::new(two)),
        Box::new(JunitReporter::new(three)),
        Box::new(NdjsonReporter::new(four)),
    ]);
    run(&protocol, &adapter, options, &mut reporters).unwrap();
    drop(reporters);
    let [text, json, junit, ndjson] = sinks.map(|sink| String::from_utf8(sink).unwrap());
    Output { text, json, junit, ndjson }
}

fn options() -> RunOptions {
    let mut options = patient();
    options.in_order = true;
    options.levels = Some(["core".to_owned()].into());
    let known = json!({"known_failures": [{"case": "demo/area/e-known", "reason": "since 2020"}]});
    options.baseline = Baseline::parse(known.to_string().as_bytes()).unwrap();
    options
}

#[test]
fn text_shows_what_needs_attention_and_how_to_run_it_again() {
    let mut text = TextOptions::new(false);
    text.rerun = Some("accord check demo --filter 'id({id})'".to_owned());
    let text = output(&options(), text).text;
    let (heading, rest) = text.split_once("adapter: in-process\n").unwrap();
    assert!(heading.starts_with("demo 3.0: 7 cases; corpus sha256:"), "{heading}");
    let (body, last) = rest.rsplit_once("\nERROR: ").unwrap();
    assert_eq!(
        body,
        "\
FAIL            demo/area/b-fail (must, core)
    What is said comes back.
    DEMO-1: text of DEMO-1
    at /result
      expected \"ok\"
      found    \"no\"
    at /text
      expected \"area/b-fail\"
      found    nothing
    the adapter says: the tide <is> out
    again: accord check demo --filter 'id(demo/area/b-fail)'
ERROR           demo/area/c-error (must, core)
    What is said comes back.
    DEMO-1: text of DEMO-1
    the adapter reports an error: out of <memory>\\u{1}
    again: accord check demo --filter 'id(demo/area/c-error)'
not implemented demo/area/d-missing (must, core): later
known failure   demo/area/e-known (must, core): since 2020
not met         demo/area/f-soft (should, core)
    What is said comes back.
    DEMO-2: text of DEMO-2
    at /result
      expected \"ok\"
      found    \"no\"
    at /text
      expected \"area/f-soft\"
      found    nothing
    again: accord check demo --filter 'id(demo/area/f-soft)'

core         1 passed, 3 failed (1 known), 1 in error, 1 not implemented
registry     0 passed, 0 failed, 1 skipped
required     1 passed, 2 failed (1 known), 1 in error, 1 not implemented, 1 skipped
skipped: 1 case: the level \"registry\" was not selected
cases that are not required do not change the result"
    );
    let reasons =
        "1 case could not be judged, 1 required case fails, 3 of 5 required cases judged (";
    assert!(last.starts_with(reasons), "{last}");
    assert!(last.ends_with(" ms, exit code 2)\n"), "{last}");
}

#[test]
fn text_tells_when_an_excuse_has_run_out() {
    let mut options = options();
    let known = json!({"known_failures": [
        {"case": "demo/area/e-known", "reason": "since 2020", "expires": "2020-12-31"},
    ]});
    options.baseline = Baseline::parse(known.to_string().as_bytes()).unwrap();
    let text = output(&options, TextOptions::default()).text;
    assert!(text.contains("FAIL            demo/area/e-known"), "{text}");
    assert!(text.contains("was a known failure until 2020-12-31"), "{text}");
}

#[test]
fn text_can_be_coloured_and_can_name_every_case() {
    let mut text = TextOptions::new(true);
    text.every_case = true;
    let text = output(&options(), text).text;
    assert!(text.contains("\u{1b}[32mpass           \u{1b}[0m demo/area/a-pass"));
    assert!(text.contains("skip           \u{1b}[0m demo/other/g-skip"));
}

#[test]
fn json_is_a_report_that_can_be_read_again() {
    let document: Value =
        serde_json::from_str(&output(&options(), TextOptions::default()).json).unwrap();
    let report = RunReport::from_document(document.clone()).unwrap();
    assert_eq!(report.encode(), document);
    assert_eq!(report.summary.exit_code, 2);
    assert_eq!(report.cases.len(), 7);
    assert_eq!(document["format"], "accord-report-v1");
    assert_eq!(
        document["cases"][1]["differences"][1],
        json!({"pointer": "/text", "expected": "area/b-fail"})
    );
}

#[test]
fn ndjson_is_one_event_a_line() {
    let lines = output(&options(), TextOptions::default()).ndjson;
    let events: Vec<EventLine> = lines
        .lines()
        .map(|line| EventLine::from_document(serde_json::from_str(line).unwrap()).unwrap())
        .collect();
    // Six cases begin and end, one is skipped, and the run begins and ends.
    assert_eq!(events.len(), 15);
    assert_eq!(events[0].run.as_ref().unwrap().selected, 7);
    assert_eq!(events[14].summary.as_ref().unwrap().exit_code, 2);
}

#[test]
fn junit_is_well_formed_and_red_only_where_the_run_is() {
    let xml = output(&options(), TextOptions::default()).junit;
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (7, 1, 1));
    let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["demo/area", "demo/other"]);
    assert!(xml.contains("known failure (since 2020)"));
    assert!(xml.contains("not required (should)"));
    assert!(xml.contains("out of &lt;memory&gt;"));
    assert!(!xml.contains('\u{1}'));
}

/// The JUnit document of a run of these cases.
fn junit(cases: &[Value], adapter: &dyn Adapter, options: &RunOptions) -> (String, u64) {
    let mut sink = Vec::new();
    let mut reporter = JunitReporter::new(&mut sink);
    let report = run(&demo(cases), adapter, options, &mut reporter).unwrap();
    (String::from_utf8(sink).unwrap(), report.summary.exit_code)
}

#[test]
fn junit_is_red_where_the_run_fails_and_no_case_does() {
    let mut stale = patient();
    let known = json!({"known_failures": [{"case": "demo/area/a", "reason": "old"}]});
    stale.baseline = Baseline::parse(known.to_string().as_bytes()).unwrap();
    let (xml, exit_code) = junit(&[case("area/a")], &honest(), &stale);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!(exit_code, 1);
    assert_eq!((report.tests, report.failures, report.errors), (2, 1, 0));
    assert!(xml.contains("stale baseline: demo/area/a"), "{xml}");
    assert!(xml.contains("KIT_BASELINE_STALE"), "{xml}");

    let mut nothing = patient();
    nothing.filter = Some("no-such-id".parse().unwrap());
    let (xml, exit_code) = junit(&[case("area/a")], &honest(), &nothing);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!(exit_code, 2);
    assert_eq!((report.tests, report.failures, report.errors), (1, 0, 1));
    assert!(xml.contains("KIT_NO_CASE_RAN"), "{xml}");
}

#[test]
fn junit_lists_every_difference() {
    let xml = output(&options(), TextOptions::default()).junit;
    assert!(
        xml.contains(
            "What is said comes back. (DEMO-1)\n\
             /result: expected &quot;ok&quot;, found &quot;no&quot;\n\
             /text: expected &quot;area/b-fail&quot;, found nothing"
        ),
        "{xml}"
    );
}

#[test]
fn junit_holds_only_characters_that_xml_allows() {
    let adapter = InProcess::new(|_: &Case| {
        AdapterResult::without_outcome(Status::Error, "\u{fffe}\u{ffff}\u{0}\u{1f} \u{10ffff} fine")
    });
    let (xml, _) = junit(&[case("area/a")], &adapter, &patient());
    let allowed = |next: char| match u32::from(next) {
        0x9 | 0xa | 0xd => true,
        number => (0x20..=0xfffd).contains(&number) || number >= 0x10000,
    };
    assert!(xml.chars().all(allowed), "{xml:?}");
    assert!(xml.contains("\u{10ffff} fine"), "{xml}");
}

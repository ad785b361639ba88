//! One envelope a line in, one answer a line out.

use serde_json::Value;

use crate::accord::accord;

const GOOD: &str = r#"{"type":"feature","domain":"d","payload":{}}"#;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn every_line_is_answered_with_its_number() {
    let input = format!("{GOOD}\n\n{{\"a\n{GOOD}");
    let ran = accord(&["kb", "hash", "--batch"], input);
    assert_eq!(ran.code, 1, "one line was refused");
    let answers = lines(&ran.stdout);
    assert_eq!(answers.len(), 3);
    let alone = accord(&["kb", "hash"], GOOD).yes();
    assert_eq!(answers[0]["kbHash"], alone.trim());
    assert_eq!(answers[1]["error"]["code"], "CANON_INVALID_JSON");
    assert_eq!(answers[2]["kbHash"], alone.trim());
    let numbers: Vec<_> = answers.iter().map(|answer| answer["line"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(3), Some(4)]);
}

#[test]
fn every_question_can_be_asked_of_a_batch() {
    let hash = accord(&["kb", "hash"], GOOD).yes();
    let stated = format!("{},\"kbHash\":\"{}\"}}", &GOOD[..GOOD.len() - 1], hash.trim());
    let wrong = stated.replace("\"d\"", "\"e\"");
    for (question, input, code, member) in [
        ("cid", GOOD, 0, "cid"),
        ("explain", GOOD, 0, "canonical"),
        ("verify", stated.as_str(), 0, "valid"),
        ("verify", wrong.as_str(), 1, "valid"),
    ] {
        let ran = accord(&["kb", question, "--batch"], format!("{input}\n"));
        assert_eq!(ran.code, code, "{ran:?}");
        let answers = lines(&ran.stdout);
        assert_eq!(answers.len(), 1);
        assert!(!answers[0][member].is_null(), "{question}: {}", answers[0]);
    }
}

#[test]
fn a_line_past_the_limit_is_refused_and_the_next_is_not() {
    let long = format!("{{\"payload\":\"{}\"}}", "x".repeat(200));
    let input = format!("{GOOD}\n{long}\n{GOOD}\n");
    let ran = accord(&["kb", "hash", "--batch", "--max-bytes", "100"], input);
    let answers = lines(&ran.stdout);
    assert_eq!(ran.code, 1);
    assert_eq!(answers[1]["error"]["code"], "INPUT_TOO_LARGE");
    assert_eq!(answers[0]["kbHash"], answers[2]["kbHash"]);
}

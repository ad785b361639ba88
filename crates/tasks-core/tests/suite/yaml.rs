//! Front matter: read, written, and edited in place.

use accord_contract::{Object, Value};
use accord_tasks_core::yaml::{Change, Yaml};
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Value {
    Value::Object(Yaml::read(text).unwrap().members().clone())
}

fn edited(text: &str, changes: &[Change]) -> String {
    let mut yaml = Yaml::read(text).unwrap();
    yaml.edit(changes).unwrap();
    // What is kept in memory is what the text says.
    assert_eq!(read(yaml.text()), Value::Object(yaml.members().clone()));
    yaml.text().to_owned()
}

const TASK: &str = "\
# made by hand
schemaVersion: 1
id: TASK-2026-02-09-057 # the first
title: 'Ship: it'
status: ready   # moved by the board
routing:
  # who may take it
  agent: swe-backend
  tags: []
lease: {agent: a, renewCount: 0}
dependsOn:
- TASK-2026-02-09-001 # needs the schema
- TASK-2026-02-09-002

metadata:
  retryCount: 2
  notes: |
    one
    two
x-own: [1, 2]
# the end
";

#[test]
fn the_core_schema_decides_what_a_scalar_is() {
    let text = "a: 2026-02-09T21:00:00.000Z\nb: 0123\nc: 1e3\nd: yes\ne: ~\nf: 'true'\ng: 0x1F\n\
                h: -7\ni: .5\nj: 12:30:45\nk:\nl: \"1\"\n";
    let expected = json!({
        "a": "2026-02-09T21:00:00.000Z", "b": 123, "c": 1000.0, "d": "yes", "e": null,
        "f": "true", "g": 31, "h": -7, "i": 0.5, "j": "12:30:45", "k": null, "l": "1",
    });
    assert_eq!(read(text), expected);
}

#[test]
fn what_is_not_a_mapping_is_refused_with_its_line() {
    for (text, line) in [
        ("- a\n", 1),
        ("text\n", 1),
        ("a: 1\na: 2\n", 2),
        ("a: 1\nb: [1\n", 2),
        ("a: .nan\n", 1),
        ("? [a, b]\n: 1\n", 1),
    ] {
        let error = Yaml::read(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
    }
    let deep = format!("a: {}{}\n", "[".repeat(100), "]".repeat(100));
    assert!(Yaml::read(deep).is_err());
    let laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned()
        + &(0..8).fold(String::new(), |text, n| {
            let (last, next) = (char::from(b'a' + n), char::from(b'b' + n));
            let items = vec![format!("*{last}"); 10].join(", ");
            format!("{text}{next}: &{next} [{items}]\n")
        });
    assert!(Yaml::read(laughs).is_err());
}

#[test]
fn an_edit_changes_the_lines_of_its_members_only() {
    let text = edited(
        TASK,
        &[
            Change::set(&["status"], "in-progress"),
            Change::set(&["lease"], json!({"agent": "b", "renewCount": 1})),
            Change::set(&["routing", "agent"], "swe-qa"),
            Change::set(&["metadata", "retryCount"], 3),
            Change::remove(&["metadata", "notes"]),
            Change::set(&["dependsOn"], json!([])),
            Change::set(&["contentHash"], "1234567890123456"),
        ],
    );
    let expected = "\
# made by hand
schemaVersion: 1
id: TASK-2026-02-09-057 # the first
title: 'Ship: it'
status: in-progress   # moved by the board
routing:
  # who may take it
  agent: swe-qa
  tags: []
lease:
  agent: b
  renewCount: 1
dependsOn: []

metadata:
  retryCount: 3
x-own: [1, 2]
contentHash: \"1234567890123456\"
# the end
";
    assert_eq!(text, expected);
}

#[test]
fn members_are_made_and_removed_at_any_place() {
    assert_eq!(edited("a: 1\n", &[Change::remove(&["a"])]), "{}\n");
    assert_eq!(edited("a: 1", &[Change::set(&["b"], 2)]), "a: 1\nb: 2\n");
    assert_eq!(edited("a:\nb: 2\n", &[Change::set(&["a"], "x")]), "a: x\nb: 2\n");
    assert_eq!(edited("a: # why\nb: 2\n", &[Change::set(&["a"], 1)]), "a: 1 # why\nb: 2\n");
    let set = Change::set(&["a", "b"], 1);
    assert_eq!(edited("a: {}\n", std::slice::from_ref(&set)), "a:\n  b: 1\n");
    assert_eq!(edited("c: 1\n", std::slice::from_ref(&set)), "c: 1\na:\n  b: 1\n");
    assert_eq!(edited("a: {b: 2, c: 3} # both\n", &[set]), "a: # both\n  b: 1\n  c: 3\n");
    let remove = Change::remove(&["a", "b"]);
    assert_eq!(edited("a:\n  b: 1\nc: 2\n", std::slice::from_ref(&remove)), "a: {}\nc: 2\n");
    assert_eq!(edited("c: 2\n", &[remove]), "c: 2\n");
    assert_eq!(edited("{a: 1}\n", &[Change::set(&["b"], 2)]), "a: 1\nb: 2\n");
    let block = "a: |\n  one\n  two\nb: 1\n";
    assert_eq!(edited(block, &[Change::set(&["a"], "x")]), "a: x\nb: 1\n");
}

#[test]
fn a_text_stays_a_text() {
    for text in [
        "",
        " ",
        "null",
        "True",
        "yes",
        "1",
        "1.5",
        "1e3",
        "0123",
        "0x1f",
        "~",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "@a",
        "a\nb",
        "a\tb",
        "\u{7f}",
        "\u{2028}",
        "[a",
        "{",
        "'",
        "\"",
        "\\",
        "1234567890123456",
        "123456e890123456",
        "12:30",
        "2026-02-09",
        "é: è",
        "a:",
        "-",
        "?",
        "2026-02-09T21:00:00.000Z",
        "TASK-2026-02-09-057",
        "!tag",
        "&a",
        "*a",
        "%a",
        "|",
        ">",
    ] {
        let mut members = Object::new();
        members.insert("a".into(), text.into());
        members.insert(format!("k{text}"), json!([text, [text], {"b": text}]));
        let yaml = Yaml::write(members.clone());
        assert_eq!(read(yaml.text()), Value::Object(members), "{}", yaml.text());
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~\n\té]{0,12}".prop_map(Value::from),
        "[0-9e.:+-]{1,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z #:]{1,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        members in prop::collection::hash_map("[a-z0-9:# ]{1,5}", value(), 0..6)
    ) {
        let members: Object = members.into_iter().collect();
        let yaml = Yaml::write(members.clone());
        if !members.is_empty() {
            prop_assert_eq!(read(yaml.text()), Value::Object(members));
        }
    }

    #[test]
    fn any_edit_of_a_task_keeps_every_other_line(
        key in prop::sample::select(vec![
            "title", "status", "routing", "lease", "dependsOn", "metadata", "x-own", "new",
        ]),
        value in value(),
    ) {
        let text = edited(TASK, &[Change::set(&[key], value.clone())]);
        let mut expected = read(TASK);
        expected[key] = value;
        prop_assert_eq!(read(&text), expected);
        for line in ["# made by hand", "id: TASK-2026-02-09-057 # the first", "# the end"] {
            prop_assert!(text.lines().any(|found| found == line), "{}", text);
        }
    }
}

proptest! {
    /// A text that Accord wrote is not read for an edit. One with a comment is.
    #[test]
    fn an_edit_of_a_text_that_accord_wrote_is_the_edit_of_any_text(
        members in prop::collection::hash_map("[a-e]", value(), 0..5),
        key in "[a-g]",
        inner in prop::option::of("[a-c]"),
        value in prop::option::of(value()),
    ) {
        let mut members: Object = members.into_iter().collect();
        members.insert("z".into(), 1.into());
        let path: Vec<&str> = std::iter::once(key.as_str()).chain(inner.as_deref()).collect();
        let change = match value {
            Some(value) => Change::set(&path, value),
            None => Change::remove(&path),
        };
        let own = Yaml::write(members);
        let any = Yaml::read(format!("{}# the end\n", own.text())).unwrap();
        let changes = [change];
        let (own, any) = (own.edited(&changes).unwrap(), any.edited(&changes).unwrap());
        prop_assert_eq!(format!("{}# the end\n", own.text()), any.text());
        prop_assert_eq!(own.members(), any.members());
    }
}

#[test]
fn several_changes_at_once_say_the_same_as_one_after_another() {
    let text = "# the task\na: 1 # one\nb:\n  c: 2\n  d: 3\ne: [x, y]\nf: last\n";
    let changes = [
        Change::set(&["a"], 10),
        Change::set(&["new"], "word"),
        Change::remove(&["f"]),
        Change::set(&["b", "c"], "two"),
        Change::set(&["other"], json!({"deep": true})),
        Change::remove(&["e"]),
        Change::remove(&["absent"]),
        Change::set(&["b", "more"], 4),
        Change::set(&["a"], 11),
    ];
    let mut at_once = Yaml::read(text).unwrap();
    at_once.edit(&changes).unwrap();
    let mut one_by_one = Yaml::read(text).unwrap();
    for change in &changes {
        one_by_one.edit(std::slice::from_ref(change)).unwrap();
    }
    assert_eq!(at_once, one_by_one);
    assert_eq!(
        at_once.text(),
        "# the task\na: 11 # one\nb:\n  c: two\n  d: 3\n  more: 4\nnew: word\nother:\n  deep: \
         true\n"
    );
}

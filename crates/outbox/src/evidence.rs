//! What of changed files leaves the machine.

use accord_api::operations::edges::EdgeSend;
use accord_canon::{Profile, canonicalize, sha256};
use accord_contract::{Object, Value};
use serde_json::json;

use crate::Patterns;
use crate::redact::redact_text;

/// The most bytes of the difference of one file.
pub const MOST_OF_FILE: usize = 64 * 1024;
/// The most bytes of the differences, or of the output, of one item.
pub const MOST_OF_ITEM: usize = 256 * 1024;
/// The most files that are named.
pub const MOST_FILES: usize = 1_000;

/// What is said in place of a difference.
pub const NOT_SENT: &str = "diff not sent";

/// A changed file as it is now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChangedFile {
    pub path: String,
    /// `None` for a file that is gone.
    pub size: Option<u64>,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: Option<String>,
    /// The difference; `None` if it is not text, or was not asked for.
    pub diff: Option<String>,
    /// Whether it is not text.
    pub is_binary: bool,
}

/// Whether differences are sent.
pub fn sends_diff(send: EdgeSend) -> bool {
    matches!(send, EdgeSend::Diff | EdgeSend::Output)
}

/// Whether what events, requests and results say is sent.
pub fn sends_summary(send: EdgeSend) -> bool {
    send != EdgeSend::Events
}

/// The document about changed files: names, sizes and hashes, and the differences if they are sent.
/// It says what was cut and what was left out.
pub fn files(files: &[ChangedFile], send: EdgeSend, exclude: &Patterns) -> Object {
    let shown: Vec<&ChangedFile> = files.iter().filter(|it| !exclude.matches(&it.path)).collect();
    let excluded = files.len() - shown.len();
    let (mut left, mut cuts) = (MOST_OF_ITEM, Vec::new());
    let mut list = Vec::new();
    for file in shown.iter().take(MOST_FILES) {
        let mut line = Object::new();
        line.insert("path".into(), file.path.as_str().into());
        line.insert("size".into(), file.size.map_or(Value::Null, Value::from));
        line.insert("sha256".into(), file.sha256.as_deref().map_or(Value::Null, Value::from));
        if file.is_binary {
            line.insert("binary".into(), true.into());
        } else if let Some(diff) = file.diff.as_deref().filter(|_| sends_diff(send)) {
            let diff = redact_text(diff);
            let sent = beginning(&diff, MOST_OF_FILE.min(left));
            if sent.len() < diff.len() {
                let cut = format!("{}: {} of {} bytes", file.path, sent.len(), diff.len());
                cuts.push(Value::from(cut));
                line.insert("cut".into(), true.into());
            }
            left -= sent.len();
            line.insert("diff".into(), sent.into());
        }
        list.push(Value::Object(line));
    }
    if shown.len() > MOST_FILES {
        cuts.push(format!("{} more files are not named", shown.len() - MOST_FILES).into());
    }
    let mut document = Object::new();
    document.insert("files".into(), list.into());
    document.insert("excluded_files".into(), excluded.into());
    if !sends_diff(send) {
        document.insert("diff".into(), NOT_SENT.into());
    }
    if !cuts.is_empty() {
        document.insert("cuts".into(), cuts.into());
    }
    document
}

/// The member of a request that has the digest of its evidence.
pub const EVIDENCE: &str = "evidence";
/// The members of a request that say how it was sent.
const NOT_EVIDENCE: [&str; 3] = [EVIDENCE, "version", "changed"];

/// The digest of what a person is shown: the SHA-256 of the canonical JSON (RFC 8785) of a request.
/// `None` if it has no such form.
pub fn digest(request: &Object) -> Option<String> {
    let mut shown = request.clone();
    shown.retain(|name, _| !NOT_EVIDENCE.contains(&name.as_str()));
    let canonical = canonicalize(Profile::Jcs, Value::Object(shown).to_string().as_bytes()).ok()?;
    Some(sha256(&canonical).hex())
}

/// The end of an output, without credentials, as a document that says what was cut.
pub fn output(text: &str) -> Value {
    let text = redact_text(text);
    let mut from = text.len().saturating_sub(MOST_OF_FILE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    json!({"end": &text[from..], "bytes": text.len(), "cut": from > 0})
}

/// The beginning of a text, in whole lines where there are some.
fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].rfind('\n').map_or(&text[..end], |line| &text[..=line])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, diff: Option<String>) -> ChangedFile {
        let sha256 = Some("0".repeat(64));
        ChangedFile { path: path.into(), size: Some(3), sha256, diff, is_binary: false }
    }

    #[test]
    fn a_summary_has_no_difference_and_says_so() {
        let all = [file("a.rs", Some("+x\n".into())), file(".env", Some("+KEY\n".into()))];
        let none = Patterns::default();
        let document = files(&all, EdgeSend::Summary, &none);
        assert_eq!(document["diff"], NOT_SENT);
        assert!(!Value::Object(document).to_string().contains("+x"));
        let document = files(&all, EdgeSend::Diff, &Patterns::new(vec![".env".into()]));
        assert_eq!(document["files"][0]["diff"], "+x\n");
        assert_eq!(document["excluded_files"], 1);
        assert!(!Value::Object(document).to_string().contains("env"));
    }

    #[test]
    fn differences_are_cut_at_their_limits_and_that_is_said() {
        let long = || Some("+0123456789\n".repeat(10_000));
        let all: Vec<_> = (0..6).map(|it| file(&format!("{it}.txt"), long())).collect();
        let document = files(&all, EdgeSend::Diff, &Patterns::default());
        let sizes: Vec<usize> = document["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["diff"].as_str().unwrap().len())
            .collect();
        assert!(sizes.iter().all(|size| *size <= MOST_OF_FILE), "{sizes:?}");
        assert!(sizes.iter().sum::<usize>() <= MOST_OF_ITEM, "{sizes:?}");
        assert_eq!(document["cuts"].as_array().unwrap().len(), 6);
        let mut binary = file("a.png", None);
        binary.is_binary = true;
        let document = files(&[binary], EdgeSend::Diff, &Patterns::default());
        assert_eq!(document["files"][0]["binary"], true);
        assert_eq!(document["files"][0]["size"], 3);
    }

    #[test]
    fn the_digest_is_about_what_is_shown() {
        let request = |value: Value| value.as_object().cloned().unwrap();
        let one = digest(&request(json!({"a": 1.0, "b": "x", "version": "1", "changed": true})));
        let same = digest(&request(json!({"b": "x", "a": 1, "evidence": "e", "changed": false})));
        assert_eq!(one, same);
        // Made with another program: printf '{"a":1,"b":"x"}' | sha256sum
        let expected = "ecf9e98ec0641e23113ff3ce8bdc78d0ddd249886517fd4a7f68cc83d4e65667";
        assert_eq!(one.as_deref(), Some(expected));
        assert_ne!(digest(&request(json!({"a": 1, "b": "y"}))), one);
    }

    #[test]
    fn only_the_end_of_an_output_is_sent() {
        let document = output(&format!("{}end", "é".repeat(60_000)));
        assert_eq!(document["cut"], true);
        assert!(document["end"].as_str().unwrap().ends_with("end"));
    }
}

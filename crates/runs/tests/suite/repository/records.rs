//! Records: what is appended, cut, and named when it is damaged.

use std::fs;
use std::io::Write as _;

use accord_contract::Code;
use accord_runs::repository::{RecordFile, Repository, failure};
use serde_json::json;
use tempfile::TempDir;

use super::support::{lock, object};

const AUDIT: &str = ".agentxchain/hook-audit.jsonl";

fn folder(content: &str) -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".agentxchain")).unwrap();
    fs::write(folder.path().join(AUDIT), content).unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    (folder, repository)
}

fn content(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join(AUDIT)).unwrap()
}

fn append(repository: &Repository) {
    let lines = [object(json!({"n": 1})), object(json!({"n": 2}))];
    lock(repository).append(RecordFile::HookAudit, &lines).unwrap();
}

#[test]
fn lines_are_appended_compact_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    append(&repository);
    assert_eq!(content(&folder), "{\"n\":1}\n{\"n\":2}\n");
    append(&repository);
    assert_eq!(content(&folder).lines().count(), 4);
}

#[test]
fn a_line_that_was_cut_off_goes_before_the_next_is_written() {
    let long = format!("{{\"text\":\"{}", "x".repeat(200_000));
    for torn in ["{\"n\":", "\0\0\0", "{\"n\":1}\0", &long] {
        let (folder, repository) = folder(&format!("{{\"n\":0}}\n{torn}"));
        let mut lines = repository.lines(RecordFile::HookAudit).unwrap();
        assert_eq!(lines.by_ref().map(|line| line.unwrap().number).collect::<Vec<_>>(), [1]);
        assert!(lines.is_torn());
        assert_eq!(repository.last_lines(RecordFile::HookAudit, 5).unwrap().len(), 1);
        append(&repository);
        assert_eq!(content(&folder), "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
    }
}

#[test]
fn a_whole_line_without_its_end_is_kept() {
    let (folder, repository) = folder("{\"n\":0}");
    let mut lines = repository.lines(RecordFile::HookAudit).unwrap();
    assert_eq!(lines.by_ref().count(), 1);
    assert!(!lines.is_torn());
    append(&repository);
    assert_eq!(content(&folder), "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
}

#[test]
fn a_damaged_line_is_named_and_stays() {
    let damaged = "{\"n\":0}\n\nnonsense\n[1]\n{\"n\":3}\n";
    let (folder, repository) = folder(damaged);
    let mut numbers = Vec::new();
    for line in repository.lines(RecordFile::HookAudit).unwrap() {
        match line {
            Ok(line) => numbers.push(Ok(line.number)),
            Err(error) => {
                let failure = failure(&error);
                assert_eq!(failure.code, Code::XchainRecordInvalid);
                let details = failure.details.unwrap();
                assert_eq!(details["path"], AUDIT);
                numbers.push(Err(details["line"].as_u64().unwrap()));
            }
        }
    }
    assert_eq!(numbers, [Ok(1), Err(3), Err(4), Ok(5)]);
    append(&repository);
    assert_eq!(content(&folder), format!("{damaged}{{\"n\":1}}\n{{\"n\":2}}\n"));
    assert_eq!(repository.last_lines(RecordFile::HookAudit, 3).unwrap().len(), 3);
    assert!(repository.last_lines(RecordFile::HookAudit, 4).is_err());
}

#[test]
fn long_and_many_lines_are_read_from_both_ends() {
    let mut content = Vec::new();
    for number in 0..5_000 {
        let filler = "y".repeat(if number % 1_000 == 0 { 150_000 } else { 40 });
        writeln!(content, "{}", json!({"n": number, "filler": filler})).unwrap();
    }
    let (_folder, repository) = folder(&String::from_utf8(content).unwrap());
    let lines: Vec<_> = repository.lines(RecordFile::HookAudit).unwrap().collect();
    assert_eq!(lines.len(), 5_000);
    for (place, line) in lines.into_iter().enumerate() {
        let line = line.unwrap();
        assert_eq!(
            (line.number, line.object["n"].as_u64()),
            (place as u64 + 1, Some(place as u64))
        );
    }
    for count in [0, 1, 1_500, 5_000, 9_000] {
        let last = repository.last_lines(RecordFile::HookAudit, count).unwrap();
        let first = 5_000_usize.saturating_sub(count);
        assert_eq!(last.len(), 5_000 - first);
        let numbers = last.iter().map(|line| line["n"].as_u64().unwrap());
        assert!(numbers.eq(first as u64..5_000));
    }
}

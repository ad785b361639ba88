//! The same commands give the same answers through a folder, a socket and a URL.

use crate::memory::{Memory, Way};

/// Commands as a team would use them, each with what it reads from standard input.
const DAY: &[(&[&str], &str)] = &[
    (&["project", "list"], ""),
    (&["project", "create", "shop", "--name", "The shop", "--description", "all about it"], ""),
    (&["project", "create", "shop", "--name", "Another shop"], ""),
    (&["session", "start", "--callsign", "brave-otter", "--json"], ""),
    (&["session", "list"], ""),
    (
        &["context", "deposit", "-"],
        r#"{"package_id": "p1", "title": "Chose SQLite", "created_at": "2026-04-18T20:00:00Z",
            "x-n": 1.0, "decisions_made": ["one file"], "open_questions": ["who makes backups?"],
            "significance": 9}"#,
    ),
    (
        &["context", "deposit", "-", "--json"],
        r#"{"package_id": "p1", "title": "Chose SQLite", "created_at": "2026-04-18T20:00:00Z",
            "x-n": 1.0, "decisions_made": ["one file"], "open_questions": ["who makes backups?"],
            "significance": 9}"#,
    ),
    (
        &["context", "deposit", "-"],
        r#"{"package_id": "p1", "title": "Chose another", "created_at": "2026-04-18T20:00:00Z"}"#,
    ),
    (&["context", "deposit", "-"], r#"{"package_id": "p2", "title": 7}"#),
    (
        &[
            "context",
            "deposit",
            "--id",
            "日本/2",
            "--created-at",
            "2026-04-19T20:00:00Z",
            "--title",
            "To review",
            "--review",
            "human",
            "--parent",
            "p1",
            "--tag",
            "db",
            "--topic",
            "storage",
            "--handoff",
            "go on",
        ],
        "",
    ),
    (&["context", "pull"], ""),
    (&["context", "pull", "--json"], ""),
    (&["context", "pull", "--latest", "1"], ""),
    (&["context", "pull", "--query", "sqlite backups"], ""),
    (&["context", "pull", "--query", "nothing-of-that-kind"], ""),
    (&["context", "pull", "--status", "awaiting_review"], ""),
    (&["context", "pull", "日本/2"], ""),
    (&["context", "pull", "日本/2", "--json"], ""),
    (&["context", "pull", "nobody"], ""),
    (&["context", "pull", "nobody", "--json"], ""),
    (&["context", "pull", "--limit", "999"], ""),
    (&["context", "pull", "--cursor", "nonsense"], ""),
    (&["context", "flag", "日本/2", "--review", "agent"], ""),
    (&["context", "review", "日本/2", "revision_requested", "--note", "say why"], ""),
    (&["context", "resubmit", "日本/2", "--note", "said"], ""),
    (&["context", "review", "日本/2", "complete", "--json"], ""),
    (&["context", "complete", "日本/2"], ""),
    (&["context", "pull", "日本/2", "--history"], ""),
    (&["fact", "assert", "api", "version", "1", "--valid-from", "2026-01-01T00:00:00Z"], ""),
    (
        &[
            "fact",
            "assert",
            "api",
            "version",
            "2",
            "--valid-from",
            "2026-02-01T00:00:00Z",
            "--confidence",
            "0.5",
        ],
        "",
    ),
    (
        &[
            "fact",
            "assert",
            "api",
            "version",
            "0",
            "--valid-from",
            "2025-01-01T00:00:00Z",
            "--in-order",
        ],
        "",
    ),
    (&["fact", "list"], ""),
    (&["fact", "list", "--history", "--json"], ""),
    (&["fact", "list", "--as-of", "2026-01-15"], ""),
    (&["fact", "list", "--as-of", "whenever"], ""),
    (&["fact", "invalidate", "api", "version", "--value", "1"], ""),
    (&["fact", "invalidate", "api", "version"], ""),
    (&["fact", "list", "--json"], ""),
    (&["context", "orient", "--window", "3660"], ""),
    (&["context", "orient", "--window", "3660", "--max-tokens", "2000", "--json"], ""),
    (&["context", "digest", "--window", "3660", "--focus", "sqlite"], ""),
    (&["context", "digest", "--window", "3660", "--all"], ""),
    (&["context", "export", "--project", "shop"], ""),
    (&["context", "verify"], ""),
    (&["context", "verify", "--project", "nowhere", "--json"], ""),
    (&["project", "rename", "shop", "The old shop"], ""),
    (&["project", "archive", "shop"], ""),
    (&["context", "deposit", "--title", "too late"], ""),
    (&["project", "list"], ""),
    (&["project", "list", "--include-archived"], ""),
    (&["project", "restore", "shop", "--json"], ""),
    (&["project", "show"], ""),
    (&["project", "show", "nowhere"], ""),
    (&["session", "end", "nobody"], ""),
];

#[test]
fn a_folder_a_socket_and_a_url_answer_alike() {
    let mut answers = Way::ALL.map(|way| {
        let memory = Memory::reached(way);
        if way == Way::Folder {
            // Only a data folder can be without a memory.
            memory.ran(&["project", "list"]).refused("STORE_MISSING");
            memory.ran(&["project", "create", "another"]).yes();
            memory.ran(&["project", "archive", "another"]).yes();
        } else {
            memory.ran(&["project", "create", "another"]).yes();
            memory.ran(&["project", "archive", "another"]).yes();
        }
        let ran = DAY.iter().map(|(args, input)| {
            let ran = memory.ran_with(args, input);
            format!("{args:?}: {}\n{}\n{}", ran.code, ran.stdout, ran.stderr)
        });
        ran.map(|text| without_chance(&text)).collect::<Vec<_>>()
    });
    let [folder, others @ ..] = &mut answers;
    for other in others {
        for (one, other) in folder.iter().zip(other.iter()) {
            assert_eq!(one, other);
        }
    }
    // They are answers, and not the same trouble everywhere.
    let codes: Vec<_> =
        folder.iter().map(|text| text.split("]: ").nth(1).expect("a code")).collect();
    let done = codes.iter().filter(|text| text.starts_with('0')).count();
    assert!(done > 38, "{done} of {} were done: {codes:?}", codes.len());
}

/// A text without what no two runs have in common: minted ids, times, correlation ids.
fn without_chance(text: &str) -> String {
    let is_word = |character: char| character.is_alphanumeric() || "_-:.+".contains(character);
    let mut clean = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        clean.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // A full stop at the end belongs to the sentence.
        let name = word.trim_end_matches('.');
        clean.push_str(stands_for(name));
        clean.push_str(&word[name.len()..]);
        rest = after;
    }
    clean.push_str(rest);
    // The width of a column of times depends on whether two times of the list look alike.
    let mut last = None;
    clean.retain(|character| {
        let before = last.replace(character);
        character != ' ' || before != Some(' ')
    });
    clean
}

fn stands_for(word: &str) -> &str {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let digits =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"-:T.Z".contains(&byte));
    match word {
        // What the test itself names stays.
        _ if word.starts_with("2026-04")
            || word.starts_with("2026-01")
            || word.starts_with("2025") =>
        {
            word
        }
        _ if word.len() == 24 && is_hex(word) => "CORRELATION",
        _ if word.starts_with("fact_") => "FACT",
        _ if word.starts_with("sess_") => "SESSION",
        _ if word.len() >= 10 && word.starts_with("20") && digits(word) => "TIME",
        _ if word.len() >= 6 && word.ends_with('Z') && digits(word) => "CLOCK",
        _ => word,
    }
}

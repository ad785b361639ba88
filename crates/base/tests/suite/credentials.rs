//! Credentials in texts and documents.
#![expect(clippy::disallowed_methods, reason = "the texts of the repository are samples")]

use std::fs;
use std::path::{Path, PathBuf};

use accord_base::credential::{MAX_PLACES, find, find_in, may_be_in};
use serde_json::{Value, json};

use crate::credential_samples::{credentials, others, private_key};

#[test]
fn credentials_are_found_wherever_they_stand() {
    for (kind, text) in credentials() {
        let around = [
            (text.clone(), 1),
            (format!("It was:\n\n- `{text}`, and then\n"), 3),
            (format!("\"{text}\""), 1),
            (format!("日本 {text} 日本"), 1),
        ];
        for (text, line) in around {
            let found = find(&text).unwrap_or_else(|| panic!("{kind} is not found in {text}"));
            assert_eq!(found.kind.as_str(), kind, "{text}");
            assert!(found.line >= line && found.line <= line + 1, "{text}");
            let document = json!({"n": 1, "x-list": ["", {"a/b": text}]});
            assert!(may_be_in(&document.to_string()), "{text}");
            assert!(may_be_in(&document.to_string().replace('/', "\\/")), "{text}");
            let places = find_in(&document);
            assert_eq!(places.len(), 1, "{text}");
            assert_eq!(places[0].pointer, "/x-list/1/a~1b");
            assert_eq!(places[0].member(), "x-list[1].a/b");
        }
    }
}

#[test]
fn other_texts_are_none() {
    for text in others() {
        let found = find(&text).map(|found| found.kind.as_str());
        assert_eq!(found, None, "{text}");
        assert_eq!(find_in(&json!({"a": text})), [], "{text}");
    }
}

#[test]
fn a_name_can_make_a_secret_and_be_one() {
    let secret = "Zm9vYmFy/abcDEFghi+JKLmno1pqrSTUvwx2YZab";
    assert_eq!(secret.len(), 40);
    let places = find_in(&json!({"keys": {"SecretAccessKey": secret, "Hash": secret}}));
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].pointer, "/keys/SecretAccessKey");
    // The name of the member is not repeated.
    let (_, token) = credentials().into_iter().find(|(kind, _)| *kind == "npm_token").unwrap();
    let places = find_in(&json!({"x-map": {token.clone(): {"inner": token}}}));
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].in_words(), "x-map contains a token of npm");
}

#[test]
fn an_escape_hides_nothing_and_places_are_limited() {
    let escaped = "{\"a\":\"\\u0067hp_abc\"}";
    assert!(may_be_in(escaped));
    assert!(!may_be_in("{\"a\":\"an ordinary note - with a dash\"}"));
    let (_, token) = credentials().into_iter().find(|(kind, _)| *kind == "github_token").unwrap();
    let many: Vec<Value> = (0..100).map(|_| token.clone().into()).collect();
    assert_eq!(find_in(&Value::Array(many)).len(), MAX_PLACES);
    let inner = private_key("PRIVATE KEY", "\n");
    let place = &find_in(&json!({"content_md": format!("a\nb\n{inner}")}))[0];
    assert_eq!(place.in_words(), "content_md contains a private key in line 3");
}

/// What looks like the beginning of many credentials is searched in linear time.
#[test]
fn hostile_texts_end() {
    let begins = [
        "sk-",
        "sk-proj-",
        "glpat-",
        "-----BEGIN PRIVATE KEY-----\n",
        "AKIA",
        "secret_access_key=",
        "AKIAABCDEFGHIJKLMNOP ",
        "hvs.",
        "ghp_",
        "a",
        "-",
        "SG.",
        "\\n",
    ];
    for begin in begins {
        assert_eq!(find(&begin.repeat((256 << 10) / begin.len())), None, "{begin}");
    }
}

/// The documents and the corpus of this repository have placeholders and digests, and no
/// credentials.
#[test]
fn the_documents_of_this_repository_have_none() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "Cargo.lock",
    ]
    .iter()
    .map(|name| root.join(name))
    .collect();
    let mut folders: Vec<PathBuf> =
        ["docs", "corpus", "contracts", "examples"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.len() > 500);
    for file in files {
        let bytes = fs::read(&file).expect("a file of the repository");
        assert_eq!(find(&String::from_utf8_lossy(&bytes)), None, "{}", file.display());
    }
}

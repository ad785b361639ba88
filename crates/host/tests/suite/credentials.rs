//! Credentials in what is stored: refused by deposits and assertions, and a warning elsewhere.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{World, package_with};

const PACKAGES: &str = "/v1/projects/atlas/packages";
const FACTS: &str = "/v1/projects/atlas/facts";
const ALLOW: (&str, &str) = ("x-accord-allow-credentials", "true");

/// It is put together, so that scanners of repositories find no token here.
fn token() -> String {
    format!("ghp{}{}", "_", "uX9r2KpLq7TzBv4MwYc1Ns8Hd3Jf6GaEo5Ri")
}

fn with_token(id: &str) -> Value {
    package_with(id, json!({"decisions_made": ["one", "two", format!("push with\n{}", token())]}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_with_a_credential_is_refused_by_its_place() {
    let world = World::new();
    let asker = world.owner();
    let answer = asker.post(PACKAGES, &with_token("pkg_1")).await;
    let refused = answer.refused(400, "credential_found");
    assert_eq!(refused["field"], "decisions_made.2");
    assert!(!answer.text.contains(&token()), "{}", answer.text);
    assert!(answer.text.contains("decisions_made[2] contains a token of GitHub in line 2"));
    assert!(answer.text.contains("--allow-credentials"), "{}", answer.text);
    asker.get("/v1/packages/pkg_1").await.refused(404, "package_not_found");

    // The word that allows it is a header, and never a member.
    let member = package_with(
        "pkg_1",
        json!({
            "title": token(), "allow_credentials": true, "x-accord-allow-credentials": true,
        }),
    );
    asker.post(PACKAGES, &member).await.refused(400, "credential_found");
    let odd = [("x-accord-allow-credentials", "perhaps")];
    let body = with_token("pkg_1").to_string();
    asker.ask("POST", PACKAGES, &odd, &body).await.refused(400, "invalid_schema");
    let stored = asker.ask("POST", PACKAGES, &[ALLOW], &body).await.expect(201);

    // What is stored stays idempotent without the header, and a conflict is named as one.
    let again = asker.post(PACKAGES, &with_token("pkg_1")).await.expect(200);
    assert_eq!(again, stored);
    let other = package_with("pkg_1", json!({"title": token()}));
    asker.post(PACKAGES, &other).await.refused(409, "duplicate_package_id");
    let minted = asker.post(&format!("{PACKAGES}?mint=1"), &with_token("pkg_2")).await;
    minted.refused(400, "credential_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_with_a_credential_is_refused_by_its_place() {
    let world = World::new();
    let asker = world.owner();
    let fact = json!({"fact_id": "f1", "subject": "ci", "predicate": "token", "value": token()});
    let answer = asker.post(FACTS, &fact).await;
    assert_eq!(answer.refused(400, "credential_found")["field"], "value");
    assert!(!answer.text.contains(&token()));
    // The project would have been created with the fact.
    asker.get(FACTS).await.refused(404, "project_not_found");
    asker.ask("POST", FACTS, &[ALLOW], &fact.to_string()).await.expect(201);
    asker.post(FACTS, &fact).await.expect(200);
    let same = json!({"subject": "ci", "predicate": "token", "value": token()});
    asker.post(&format!("{FACTS}?if_changed=true"), &same).await.expect(200);
    asker.post(FACTS, &same).await.refused(400, "credential_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_accepted_with_a_warning() {
    let world = World::new();
    let asker = world.owner();
    let fact = json!({
        "fact_id": "f1", "project_id": "atlas", "subject": "ci", "predicate": "token",
        "value": token(), "valid_from": "2026-04-01T00:00:00Z",
        "created_at": "2026-04-01T00:00:00Z",
    });
    let lines = format!("{}\n{}\n{fact}\n", package_with("pkg_0", json!({})), with_token("pkg_1"));
    let path = "/v1/projects/atlas/import";
    let answer = asker.ask("POST", path, &[("content-type", "application/x-ndjson")], &lines).await;
    let summary = answer.expect(200);
    assert_eq!(summary["added"]["packages"], 2);
    assert_eq!(summary["warned_count"], 2);
    assert_eq!(summary["warnings"][0]["line"], 2);
    assert_eq!(summary["warnings"][0]["code"], "credential_found");
    assert_eq!(summary["warnings"][0]["field"], "/decisions_made/2");
    assert_eq!(summary["warnings"][1]["field"], "/value");
    assert!(!answer.text.contains(&token()));
    let again = asker.ask("POST", path, &[("content-type", "application/x-ndjson")], &lines).await;
    assert_eq!(again.expect(200).get("warnings"), None);
}

/// No file of the data folder, and no line of the log, has a value that was refused.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_nowhere() {
    let world = World::new();
    let asker = world.owner();
    asker.post(PACKAGES, &package_with("pkg_0", json!({}))).await.expect(201);
    asker.post(PACKAGES, &with_token("pkg_1")).await.refused(400, "credential_found");
    let member = package_with("pkg_2", json!({"x-map": {token(): "1"}}));
    let answer = asker.post(PACKAGES, &member).await;
    answer.refused(400, "credential_found");
    assert!(!answer.text.contains(&token()));
    let fact = json!({"subject": token(), "predicate": "is", "value": "x"});
    asker.post(FACTS, &fact).await.refused(400, "credential_found");
    let mut files = 0;
    let mut folders = vec![world.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                assert_absent(&path);
            }
        }
    }
    assert!(files > 0);
}

fn assert_absent(path: &Path) {
    let Ok(bytes) = std::fs::read(path) else { return };
    let token = token();
    let is_there = bytes.windows(token.len()).any(|part| part == token.as_bytes());
    assert!(!is_there, "{} has the value", path.display());
}

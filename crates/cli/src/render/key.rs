//! Keys, without their secrets.

use accord_contract::wire::Value;

use super::page::{Page, list};
use super::table::table;
use super::text::{actor, clean, member};
use super::time::Times;

/// Keys, one per line.
pub(crate) fn keys(page: &mut Page, keys: &Value) {
    let times = Times::of(list(keys), &["created_at", "expires_at", "revoked_at"]);
    let rows: Vec<Vec<String>> = list(keys).iter().map(|key| row(key, times)).collect();
    if !rows.is_empty() {
        let headings =
            ["KEY", "LABEL", "SCOPES", "PROJECTS", "ACTOR", "SINCE", "EXPIRES", "REVOKED"];
        table(page, &headings, &rows);
    }
}

/// One key.
pub(crate) fn key(page: &mut Page, key: &Value) {
    let row = row(key, Times::default());
    let [id, label, may, projects, actor, _, expires, _] = row.as_slice() else {
        return;
    };
    let pieces = [
        id.clone(),
        label.clone(),
        format!("may {may}"),
        format!("in {projects}"),
        match actor.as_str() {
            "" => String::new(),
            actor => format!("as {actor}"),
        },
        match expires.as_str() {
            "" => String::new(),
            expires => format!("until {expires}"),
        },
    ];
    page.pieces(&pieces);
}

fn row(key: &Value, times: Times) -> Vec<String> {
    let scope = if key["scope"].is_object() { &key["scope"] } else { key };
    let texts = |value: &Value| {
        let texts: Vec<_> = list(value).iter().filter_map(Value::as_str).map(clean).collect();
        texts.join(",")
    };
    let who = actor(&scope["actor"]);
    vec![
        member(key, "key_id"),
        member(key, "label"),
        texts(&scope["verbs"]),
        if scope["projects"].is_array() {
            texts(&scope["projects"])
        } else {
            "all projects".to_owned()
        },
        match (who.is_empty(), scope["act_as"].as_bool()) {
            (false, Some(true)) => format!("{who} and others"),
            _ => who,
        },
        times.show(&key["created_at"]),
        times.show(&key["expires_at"]),
        times.show(&key["revoked_at"]),
    ]
}

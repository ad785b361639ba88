//! Faults that take what should be refused, or hear something else than was asked.

use serde_json::{Value, json};

use super::front::Asked;

/// No fault.
pub(super) fn unchanged(_: &mut Asked) {}

pub(super) fn later_versions_taken(asked: &mut Asked) {
    in_package(asked, |package| package["relay_version"] = json!("0.1"));
}

pub(super) fn long_titles_cut(asked: &mut Asked) {
    in_package(asked, |package| {
        if let Some(title) = package["title"].as_str() {
            package["title"] = title.chars().take(200).collect::<String>().into();
        }
    });
}

pub(super) fn unknown_status_is_complete(asked: &mut Asked) {
    let known = ["draft", "complete", "awaiting_review", "revision_requested"];
    in_package(asked, |package| {
        otherwise(&mut package["status"], &known, "complete");
    });
}

pub(super) fn unknown_review_is_none(asked: &mut Asked) {
    in_package(asked, |package| {
        otherwise(&mut package["review_type"], &["none", "human", "agent"], "none");
    });
}

pub(super) fn unknown_actors_are_scripts(asked: &mut Asked) {
    in_package(asked, |package| {
        if let Some(kind) = package.pointer_mut("/created_by/type") {
            otherwise(kind, &["human", "agent", "script"], "script");
        }
    });
}

pub(super) fn unknown_types_are_standard(asked: &mut Asked) {
    in_package(asked, |package| {
        let known = package["package_type"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("x-") && kind.len() > 2);
        if !known && package["package_type"].is_string() {
            package["package_type"] = json!("standard");
        }
    });
}

pub(super) fn tags_made_lists(asked: &mut Asked) {
    in_package(asked, |package| {
        if package["tags"].is_string() {
            package["tags"] = json!([package["tags"]]);
        }
    });
}

pub(super) fn limit_ignored(asked: &mut Asked) {
    if asked.is("GET", "/packages") && asked.parameter("limit").is_some() {
        set(asked, "limit", "200");
    }
}

pub(super) fn ten_by_default(asked: &mut Asked) {
    if asked.is("GET", "/packages") && asked.parameter("limit").is_none() {
        set(asked, "limit", "10");
    }
}

pub(super) fn numbers_as_values(asked: &mut Asked) {
    if asked.is("POST", "/facts") {
        asked.document(|fact| {
            if fact["value"].is_number() {
                fact["value"] = fact["value"].to_string().into();
            }
        });
    }
}

pub(super) fn confidence_clamped(asked: &mut Asked) {
    if asked.is("POST", "/facts") {
        asked.document(|fact| {
            if let Some(confidence) = fact["confidence"].as_f64() {
                fact["confidence"] = confidence.clamp(0.0, 1.0).into();
            }
        });
    }
}

/// Hears a moment as the one before it, so that a fact still holds where it ends.
pub(super) fn as_of_just_before(asked: &mut Asked) {
    let Some(moment) = asked.parameter("as_of").map(str::to_owned) else {
        return;
    };
    let decoded = moment.replace("%3A", ":").replace("%3a", ":");
    let Ok(instant) = accord_contract::time::Timestamp::parse(&decoded) else {
        return;
    };
    let (mut seconds, mut nanos) = (instant.time().unix_seconds(), instant.time().subsec_nanos());
    if nanos == 0 {
        seconds -= 1;
        nanos = 1_000_000_000;
    }
    let before = accord_contract::time::Time::from_unix(seconds, nanos - 1).unwrap();
    set(asked, "as_of", &before.to_string());
}

pub(super) fn object_ignored(asked: &mut Asked) {
    if asked.is("DELETE", "/facts") {
        let heard = |name: &str| name != "object" && name != "value";
        asked.query.retain(|(name, _)| heard(name));
    }
}

pub(super) fn a_week_by_default(asked: &mut Asked) {
    if asked.is("GET", "/orient") && asked.parameter("window_days").is_none() {
        set(asked, "window_days", "7");
    }
}

pub(super) fn every_window_is_long(asked: &mut Asked) {
    if asked.is("GET", "/orient") {
        set(asked, "window_days", "3650");
    }
}

pub(super) fn last_member_wins(asked: &mut Asked) {
    if asked.is_deposit() {
        // Reading into a tree and writing it again keeps the last of two members.
        asked.document(|_| {});
    }
}

fn in_package(asked: &mut Asked, change: impl FnOnce(&mut Value)) {
    if asked.is_deposit() {
        asked.document(|package| {
            if package.is_object() {
                change(package);
            }
        });
    }
}

/// Replaces a text that is not one of those known.
fn otherwise(value: &mut Value, known: &[&str], instead: &str) {
    if value.as_str().is_some_and(|text| !known.contains(&text)) {
        *value = instead.into();
    }
}

fn set(asked: &mut Asked, name: &str, value: &str) {
    asked.query.retain(|(known, _)| known != name);
    asked.query.push((name.to_owned(), value.to_owned()));
}

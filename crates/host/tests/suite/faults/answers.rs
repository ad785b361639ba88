//! Faults that answer something else than the host did.

use accord_contract::{Time, Timestamp};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::Digest as _;

use super::front::{Answered, Asked};

/// The members that a package must have.
const REQUIRED: [&str; 9] = [
    "package_id",
    "project_id",
    "relay_version",
    "title",
    "status",
    "package_type",
    "review_type",
    "created_at",
    "created_by",
];

pub(super) fn unknown_members_dropped(asked: &Asked, answered: &mut Answered) {
    if asked.is_specific() && answered.status == 200 {
        answered.document(|package| {
            if let Value::Object(members) = package {
                members.retain(|name, _| REQUIRED.contains(&name.as_str()));
            }
        });
    }
}

pub(super) fn defaults_filled_in(asked: &Asked, answered: &mut Answered) {
    if asked.is_specific() && answered.status == 200 {
        answered.document(|package| {
            if let Value::Object(members) = package {
                members.entry("tags").or_insert(json!([]));
                members.entry("significance").or_insert(json!(5));
            }
        });
    }
}

/// Hashes the body as it was sent, in whatever order and spelling.
pub(super) fn hash_of_the_text(asked: &Asked, answered: &mut Answered) {
    if asked.is_deposit() && answered.status < 300 {
        let digest = sha2::Sha256::digest(&asked.body);
        let digest = data_encoding::HEXLOWER.encode(&digest);
        answered.headers.remove("etag");
        answered.headers.remove("x-content-hash");
        answered.document(|package| package["content_hash"] = format!("sha256:{digest}").into());
    }
}

pub(super) fn again_is_a_conflict(asked: &Asked, answered: &mut Answered) {
    if asked.is_deposit() && answered.status == 200 {
        refuse(answered, 409, "duplicate_package_id");
    }
}

pub(super) fn another_takes_its_place(asked: &Asked, answered: &mut Answered) {
    if asked.is_deposit() && answered.status == 409 {
        answered.status = 200;
        answered.body = asked.body.clone();
    }
}

pub(super) fn member_not_named(_: &Asked, answered: &mut Answered) {
    if answered.status == 400 {
        refuse(answered, 400, "invalid_schema");
    }
}

pub(super) fn complete_can_be_flagged(asked: &Asked, answered: &mut Answered) {
    if asked.is("POST", "/flag") && answered.code().as_deref() == Some("invalid_transition") {
        answered.status = 200;
        answered.body = Bytes::from(r#"{"status":"awaiting_review","review_type":"human"}"#);
    }
}

pub(super) fn flag_keeps_the_type(asked: &Asked, answered: &mut Answered) {
    if asked.is("POST", "/flag") && answered.status == 200 {
        answered.document(|package| package["review_type"] = json!("none"));
    }
}

pub(super) fn oldest_first(asked: &Asked, answered: &mut Answered) {
    if asked.is("GET", "/packages") && asked.parameter("query").is_none() {
        answered.document(|list| {
            if let Some(packages) = list["packages"].as_array_mut() {
                packages.reverse();
            }
        });
    }
}

pub(super) fn not_found_is_null(asked: &Asked, answered: &mut Answered) {
    if asked.is_specific() && answered.status == 404 {
        answered.status = 200;
        answered.body = Bytes::from("null");
    }
}

pub(super) fn search_finds_nothing(asked: &Asked, answered: &mut Answered) {
    if asked.is("GET", "/packages") && asked.parameter("query").is_some() && answered.status == 200
    {
        answered.body = Bytes::from(r#"{"packages":[],"next_cursor":null,"scores":[]}"#);
    }
}

pub(super) fn ends_a_moment_early(asked: &Asked, answered: &mut Answered) {
    each_fact(asked, answered, |fact| {
        let end = fact["valid_to"].as_str().and_then(|end| Timestamp::parse(end).ok());
        if let Some(end) = end {
            let seconds = end.time().unix_seconds() - 1;
            let early = Time::from_unix(seconds, end.time().subsec_nanos()).unwrap();
            fact["valid_to"] = early.to_string().into();
        }
    });
}

pub(super) fn all_facts_current(asked: &Asked, answered: &mut Answered) {
    each_fact(asked, answered, |fact| fact["valid_to"] = Value::Null);
}

pub(super) fn nothing_counted(asked: &Asked, answered: &mut Answered) {
    if asked.is("DELETE", "/facts") && answered.status == 200 {
        answered.body = Bytes::from(r#"{"invalidated":0}"#);
    }
}

pub(super) fn old_facts_left_out(asked: &Asked, answered: &mut Answered) {
    if asked.is("GET", "/orient") {
        answered.document(|bundle| {
            let generated = bundle["generated_at"].as_str().unwrap_or_default();
            let day = generated.get(..10).unwrap_or_default().to_owned();
            if let Some(facts) = bundle["active_facts"].as_array_mut() {
                facts.retain(|fact| {
                    fact["valid_from"].as_str().is_some_and(|at| at.starts_with(&day))
                });
            }
        });
    }
}

pub(super) fn packages_cut_short(asked: &Asked, answered: &mut Answered) {
    if asked.is("GET", "/orient") {
        answered.document(|bundle| {
            for package in bundle["recent_packages"].as_array_mut().into_iter().flatten() {
                let kept: Map<_, _> = ["package_id", "title"]
                    .map(|name| (name.to_owned(), package[name].clone()))
                    .into_iter()
                    .collect();
                *package = Value::Object(kept);
            }
        });
    }
}

pub(super) fn no_snippets(asked: &Asked, answered: &mut Answered) {
    if asked.path == "/v1/orchestrate" && answered.status == 200 {
        answered.document(|digest| digest["snippets"] = json!([]));
    }
}

pub(super) fn times_of_elsewhere(_: &Asked, answered: &mut Answered) {
    answered.document(elsewhere);
}

pub(super) fn past_facts_not_exported(asked: &Asked, answered: &mut Answered) {
    if asked.is("GET", "/export") && answered.status == 200 {
        let text = String::from_utf8_lossy(&answered.body).into_owned();
        let kept = text.lines().filter(|line| {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            line["kind"] != "fact" || line["data"]["valid_to"].is_null()
        });
        answered.body = kept.map(|line| format!("{line}\n")).collect::<String>().into();
    }
}

pub(super) fn archived_is_gone(asked: &Asked, answered: &mut Answered) {
    let archived = asked.method == "GET"
        && serde_json::from_slice::<Value>(&answered.body)
            .is_ok_and(|project| project["archived_at"].is_string());
    if archived {
        refuse(answered, 404, "project_not_found");
    }
}

/// Declares reviews, and has none.
pub(super) fn claims_what_it_lacks(asked: &Asked, answered: &mut Answered) {
    if asked.is("POST", "/flag") || asked.is("POST", "/review") {
        answered.status = 404;
        answered.body = Bytes::from("not here");
    }
}

pub(super) fn blobs_not_compared(asked: &Asked, answered: &mut Answered) {
    if asked.method == "PUT" && asked.path.contains("/blobs/") && answered.status == 400 {
        answered.status = 201;
        answered.body = Bytes::from("{}");
    }
}

fn refuse(answered: &mut Answered, status: u16, code: &str) {
    answered.status = status;
    let body = json!({"error": {"code": code, "message": "refused"}});
    answered.body = Bytes::from(body.to_string());
}

fn each_fact(asked: &Asked, answered: &mut Answered, change: impl Fn(&mut Value)) {
    if asked.is("GET", "/facts") {
        answered.document(|list| {
            let facts = list["facts"].as_array_mut();
            facts.into_iter().flatten().for_each(change);
        });
    }
}

/// Writes the moments that the server makes as two hours east of where they are.
fn elsewhere(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(elsewhere),
        Value::Object(members) => {
            for (name, value) in members {
                if let Some(time) = value.as_str().filter(|_| name.ends_with("_at")) {
                    *value = format!("{}+02:00", time.trim_end_matches('Z')).into();
                } else {
                    elsewhere(value);
                }
            }
        }
        _ => {}
    }
}

//! The declarations of hooks.

use std::collections::BTreeSet;

use accord_contract::{Object, Value};

use super::{Hook, HookMode, HookPhase};
use crate::members::{self, count, entries, given, list, text};
use crate::patterns::is_name;

pub const MAX_HOOKS_PER_PHASE: usize = 8;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Transport {
    /// A program with arguments, without a shell.
    Process { command: Vec<String> },
    Http {
        url: String,
        /// Headers. `${NAME}` in a value is replaced by an environment variable.
        headers: Vec<(String, String)>,
    },
}

impl Transport {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Process { .. } => "process",
            Self::Http { .. } => "http",
        }
    }
}

/// The valid hooks of a configuration, by phase, in order.
pub(crate) fn hooks_of(document: &Object) -> Vec<Hook> {
    let mut hooks = Vec::new();
    let declared = members::object(document, "hooks");
    for (name, value) in declared.into_iter().flatten() {
        let Some(phase) = HookPhase::parse(name) else { continue };
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        hooks.extend(items.iter().filter_map(|item| hook(phase, item.as_object()?)));
    }
    hooks
}

// An invalid hook is skipped here without a message: the validation reports it before a run begins.
fn hook(phase: HookPhase, members: &Object) -> Option<Hook> {
    let transport = match text(members, "type")? {
        "process" => Transport::Process { command: members::texts(members, "command") },
        "http" => Transport::Http {
            url: text(members, "url")?.to_owned(),
            headers: pairs(members, "headers"),
        },
        _ => return None,
    };
    Some(Hook {
        phase,
        name: text(members, "name")?.to_owned(),
        transport,
        timeout_ms: count(members, "timeout_ms")?,
        mode: HookMode::parse(text(members, "mode")?)?,
        env: pairs(members, "env"),
    })
}

fn pairs(members: &Object, name: &str) -> Vec<(String, String)> {
    let pairs = entries(members, name);
    let texts = pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.collect()
}

/// The problems of the hooks of a document that allows these phases: member and message.
pub(crate) fn phase_problems(document: &Object, phases: &[HookPhase]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(value) = given(document, "hooks") else { return found };
    let Some(hooks) = value.as_object() else {
        return vec![("hooks".into(), "hooks must be an object, one member a phase".into())];
    };
    for (name, value) in hooks {
        let at = format!("hooks.{name}");
        let Some(phase) = HookPhase::parse(name).filter(|phase| phases.contains(phase)) else {
            found.push((at.clone(), format!("{at} is not a phase for hooks")));
            continue;
        };
        let Some(items) = value.as_array() else {
            found.push((at.clone(), format!("{at} must be a list")));
            continue;
        };
        if items.len() > MAX_HOOKS_PER_PHASE {
            found.push((at.clone(), format!("{at} has more than {MAX_HOOKS_PER_PHASE} hooks")));
        }
        let mut names = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let place = format!("{at}.{index}");
            for problem in hook_problems(phase, item) {
                found.push((place.clone(), format!("{place} {problem}")));
            }
            if let Some(name) = item.get("name").and_then(Value::as_str)
                && !names.insert(name)
            {
                found.push((place.clone(), format!("{place} has the duplicate name {name}")));
            }
        }
    }
    found
}

fn hook_problems(phase: HookPhase, item: &Value) -> Vec<&'static str> {
    let mut found = Vec::new();
    let Some(hook) = item.as_object() else { return vec!["must be an object"] };
    if !text(hook, "name").is_some_and(is_name) {
        found.push("must have a name of a-z, 0-9, _ and -");
    }
    match text(hook, "type") {
        Some("process") => {
            let words = list(hook, "command");
            if words.is_empty() || !words.iter().all(Value::is_string) {
                found.push("must have a command: a list of a program and its arguments");
            }
        }
        Some("http") => {
            if !text(hook, "url").is_some_and(crate::config::is_http_url) {
                found.push("must have an absolute http or https url");
            }
            if given(hook, "method").is_some_and(|method| *method != "POST") {
                found.push("must have the method POST");
            }
            if !is_texts_object(hook, "headers") {
                found.push("must have headers that are texts");
            }
        }
        _ => found.push("must have the type process or http"),
    }
    // The protocol sets these limits. A hook runs while the repository is locked.
    if !count(hook, "timeout_ms").is_some_and(|ms| (100..=30_000).contains(&ms)) {
        found.push("must have a timeout_ms from 100 to 30000");
    }
    match text(hook, "mode").and_then(HookMode::parse) {
        None => found.push("must have the mode blocking or advisory"),
        Some(HookMode::Blocking) if phase.is_advisory_only() => {
            found.push("can only be advisory in its phase");
        }
        Some(_) => {}
    }
    if !is_texts_object(hook, "env") {
        found.push("must have an env of texts");
    }
    found
}

fn is_texts_object(hook: &Object, name: &str) -> bool {
    given(hook, name).is_none_or(|value| {
        value.as_object().is_some_and(|members| members.values().all(Value::is_string))
    })
}

//! The rules of runtimes.

use accord_contract::{Object, Value};

use super::super::RuntimeType;
use super::{Problems, Section, invalid};
use crate::members::{self, filled, given, list, text};

const PROVIDERS: [&str; 4] = ["anthropic", "openai", "google", "ollama"];

const RETRY_CLASSES: [&str; 7] = [
    "rate_limited",
    "network_failure",
    "timeout",
    "response_parse_failure",
    "turn_result_extraction_failure",
    "unknown_api_error",
    "provider_overloaded",
];

pub(super) fn check(document: &Object, found: &mut Problems) {
    let Some(runtimes) = members::object(document, "runtimes") else {
        found.push(invalid("runtimes", "runtimes must be an object"));
        return;
    };
    for (id, value) in runtimes {
        let at = format!("runtimes.{id}");
        let Some(runtime) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        let mut section = Section { at: &at, members: runtime, found };
        match text(runtime, "type").and_then(RuntimeType::parse) {
            None => {
                section.report("type", "must be manual, local_cli, api_proxy, mcp or remote_agent");
            }
            Some(RuntimeType::Manual) => {}
            Some(RuntimeType::LocalCli) => local_cli(&mut section),
            Some(RuntimeType::ApiProxy) => api_proxy(&mut section),
            Some(RuntimeType::Mcp) => mcp(&mut section),
            Some(RuntimeType::RemoteAgent) => {
                url(&mut section);
                section.positive("timeout_ms");
            }
        }
    }
}

fn local_cli(runtime: &mut Section<'_>) {
    command(runtime);
    match given(runtime.members, "prompt_transport").map(Value::as_str) {
        Some(Some("argv")) if !has_placeholder(runtime.members) => {
            runtime.report("prompt_transport", "is argv, so the command needs {prompt}");
        }
        None | Some(Some("argv" | "stdin" | "dispatch_bundle_only")) => {}
        _ => runtime.report("prompt_transport", "must be argv, stdin or dispatch_bundle_only"),
    }
    for name in ["startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms"] {
        runtime.positive(name);
    }
}

/// Whether an argument of the command is the placeholder of the prompt.
fn has_placeholder(runtime: &Object) -> bool {
    let mut words = list(runtime, "command")
        .iter()
        .chain(list(runtime, "args"))
        .chain(runtime.get("command"))
        .filter_map(Value::as_str);
    words.any(|word| word.contains("{prompt}"))
}

fn api_proxy(runtime: &mut Section<'_>) {
    let members = runtime.members;
    let provider = text(members, "provider");
    if !provider.is_some_and(|provider| PROVIDERS.contains(&provider)) {
        runtime.report("provider", "must be anthropic, openai, google or ollama");
    }
    if filled(members, "model").is_none() {
        runtime.report("model", "must be a non-blank text");
    }
    // A local model server needs no key.
    if provider != Some("ollama") && filled(members, "auth_env").is_none() {
        runtime.report("auth_env", "must name the variable that holds the key");
    }
    runtime.positive("max_output_tokens");
    runtime.positive("context_window_tokens");
    let Some(policy) = members::object(members, "retry_policy") else { return };
    for class in list(policy, "retry_on") {
        if !class.as_str().is_some_and(|class| RETRY_CLASSES.contains(&class)) {
            runtime.report("retry_policy.retry_on", "names a class of failure that does not exist");
        }
    }
    if given(policy, "jitter").is_some_and(|jitter| *jitter != "none" && *jitter != "full") {
        runtime.report("retry_policy.jitter", "must be none or full");
    }
}

fn mcp(runtime: &mut Section<'_>) {
    match text(runtime.members, "transport").unwrap_or("stdio") {
        "stdio" => command(runtime),
        "streamable_http" => url(runtime),
        _ => runtime.report("transport", "must be stdio or streamable_http"),
    }
    let is_filled = |name: &Value| name.as_str().is_some_and(|name| !name.trim().is_empty());
    runtime.check("tool_name", is_filled, "must be a non-blank text");
}

fn command(runtime: &mut Section<'_>) {
    let words = list(runtime.members, "command");
    let is_list = !words.is_empty()
        && words.iter().all(Value::is_string)
        && words[0].as_str().is_some_and(|word| !word.trim().is_empty());
    if !is_list && filled(runtime.members, "command").is_none() {
        runtime.report("command", "must be a program, or a list of it and its arguments");
    }
    runtime.texts("args");
}

fn url(runtime: &mut Section<'_>) {
    if !text(runtime.members, "url").is_some_and(is_http_url) {
        runtime.report("url", "must be an absolute http or https address");
    }
    let is_sound = |headers: &Value| {
        headers.as_object().is_some_and(|headers| headers.values().all(Value::is_string))
    };
    runtime.check("headers", is_sound, "must be an object of texts");
}

/// Whether a text is an absolute HTTP URL with a host.
pub(crate) fn is_http_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']) && !rest.contains(' ')
    })
}

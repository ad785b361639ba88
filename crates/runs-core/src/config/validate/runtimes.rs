//! The rules of runtimes.

use accord_contract::wire::{Object, Value};

use super::super::{ConfigProblem, RuntimeType};
use super::invalid;
use crate::members::{self, count, filled, given, list, text};

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

pub(super) fn check(document: &Object, found: &mut Vec<ConfigProblem>) {
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
        let mut report = |name: &str, what: &str| {
            let field = format!("{at}.{name}");
            found.push(invalid(&field, format!("{field} {what}")));
        };
        match text(runtime, "type").and_then(RuntimeType::parse) {
            None => report("type", "must be manual, local_cli, api_proxy, mcp or remote_agent"),
            Some(RuntimeType::Manual) => {}
            Some(RuntimeType::LocalCli) => local_cli(runtime, &mut report),
            Some(RuntimeType::ApiProxy) => api_proxy(runtime, &mut report),
            Some(RuntimeType::Mcp) => mcp(runtime, &mut report),
            Some(RuntimeType::RemoteAgent) => remote_agent(runtime, &mut report),
        }
    }
}

fn local_cli(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    command(runtime, report);
    if let Some(transport) = given(runtime, "prompt_transport") {
        match transport.as_str() {
            Some("argv") if !has_placeholder(runtime) => {
                report("prompt_transport", "is argv, so the command needs {prompt}");
            }
            Some("argv" | "stdin" | "dispatch_bundle_only") => {}
            _ => report("prompt_transport", "must be argv, stdin or dispatch_bundle_only"),
        }
    }
    for name in ["startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms"] {
        positive(runtime, name, report);
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

fn api_proxy(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    let provider = text(runtime, "provider");
    if !provider.is_some_and(|provider| PROVIDERS.contains(&provider)) {
        report("provider", "must be anthropic, openai, google or ollama");
    }
    if filled(runtime, "model").is_none() {
        report("model", "must be a non-blank text");
    }
    // A local model server needs no key.
    if provider != Some("ollama") && filled(runtime, "auth_env").is_none() {
        report("auth_env", "must name the variable that holds the key");
    }
    positive(runtime, "max_output_tokens", report);
    positive(runtime, "context_window_tokens", report);
    let Some(policy) = members::object(runtime, "retry_policy") else { return };
    for class in list(policy, "retry_on") {
        if !class.as_str().is_some_and(|class| RETRY_CLASSES.contains(&class)) {
            report("retry_policy.retry_on", "names a class of failure that does not exist");
        }
    }
    if given(policy, "jitter").is_some_and(|jitter| *jitter != "none" && *jitter != "full") {
        report("retry_policy.jitter", "must be none or full");
    }
}

fn mcp(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    match text(runtime, "transport").unwrap_or("stdio") {
        "stdio" => command(runtime, report),
        "streamable_http" => url(runtime, report),
        _ => report("transport", "must be stdio or streamable_http"),
    }
    if given(runtime, "tool_name").is_some() && filled(runtime, "tool_name").is_none() {
        report("tool_name", "must be a non-blank text");
    }
}

fn remote_agent(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    url(runtime, report);
    positive(runtime, "timeout_ms", report);
}

fn command(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    let words = list(runtime, "command");
    let is_list = !words.is_empty()
        && words.iter().all(Value::is_string)
        && words[0].as_str().is_some_and(|word| !word.trim().is_empty());
    if !is_list && filled(runtime, "command").is_none() {
        report("command", "must be a program, or a list of it and its arguments");
    }
    if given(runtime, "args").is_some_and(|args| !super::is_texts(args)) {
        report("args", "must be a list of texts");
    }
}

fn url(runtime: &Object, report: &mut impl FnMut(&str, &str)) {
    if !text(runtime, "url").is_some_and(is_http_url) {
        report("url", "must be an absolute http or https address");
    }
    if let Some(headers) = given(runtime, "headers")
        && headers.as_object().is_none_or(|headers| !headers.values().all(Value::is_string))
    {
        report("headers", "must be an object of texts");
    }
}

/// Whether a text is an absolute HTTP URL with a host.
pub(crate) fn is_http_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']) && !rest.contains(' ')
    })
}

fn positive(runtime: &Object, name: &str, report: &mut impl FnMut(&str, &str)) {
    if given(runtime, name).is_some() && count(runtime, name).is_none_or(|number| number == 0) {
        report(name, "must be a whole number above zero");
    }
}

//! The time limits of a worker, the setting of each, and what follows when one has passed.

use std::path::Path;
use std::time::Duration;

use accord_contract::wire::count_of;
use accord_contract::{Failure, Object, Time, Value};

use crate::{Config, Runtime, Turn};

/// The default time without a sign of life until the first output of a worker.
const STARTUP: Duration = Duration::from_secs(180);
/// The default time without a sign of life after it.
const SILENCE: Duration = Duration::from_secs(600);
/// Both, for clients that are known to print nothing until they are done.
const SILENT_CLIENT: Duration = Duration::from_secs(30 * 60);
/// The default time for the response of a remote agent.
const RESPONSE: Duration = Duration::from_secs(120);
/// The time limit of a turn without a deadline.
const WHOLE: Duration = Duration::from_secs(2 * 3600);
/// The least time that is proposed after a worker was ended for its silence.
const LEAST_RAISED: Duration = Duration::from_secs(30 * 60);
/// The longest limit. Adding it to a time overflows nothing.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Programs that print nothing until they are done, by the names of their commands and packages.
const SILENT_CLIENTS: [&str; 19] = [
    "aider",
    "amp",
    "auggie",
    "claude",
    "claude-code",
    "cline",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "droid",
    "gemini",
    "gemini-cli",
    "goose",
    "kiro-cli",
    "opencode",
    "opencode-ai",
    "qwen",
    "qwen-code",
];
/// Programs that start the program that their arguments name.
const LAUNCHERS: [&str; 10] =
    ["bunx", "env", "nice", "nohup", "npx", "pnpx", "stdbuf", "sudo", "time", "uvx"];

/// The detail of a failure with the limit that passed, in milliseconds.
pub const LIMIT_DETAIL: &str = "limit_ms";
pub const SETTING_DETAIL: &str = "setting";
pub const LAST_FAILURE: &str = "last_worker_failure";

/// A time limit, with the setting that changes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limit {
    pub after: Duration,
    pub setting: String,
    pub origin: LimitOrigin,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LimitOrigin {
    Configured,
    Default,
    /// The default for a client that prints nothing until it is done.
    SilentClient(String),
    Command,
}

impl Limit {
    pub fn shown(&self) -> String {
        let (setting, millis) = (&self.setting, self.after.as_millis());
        match &self.origin {
            LimitOrigin::Configured => format!("{setting} is {millis}"),
            LimitOrigin::Default => format!("{setting} is {millis}, the default"),
            LimitOrigin::SilentClient(client) => {
                format!("{setting} is {millis}, the default for {client}")
            }
            LimitOrigin::Command => {
                format!("--silence is {}, instead of {setting}", span(self.after))
            }
        }
    }

    #[must_use]
    pub fn explain(&self, failure: Failure) -> Failure {
        let millis = u64::try_from(self.after.as_millis()).unwrap_or(u64::MAX);
        failure.with(LIMIT_DETAIL, millis).with(SETTING_DETAIL, self.setting.as_str())
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WorkerLimits {
    /// Without a sign of life before its first output.
    pub startup: Limit,
    /// Without a sign of life after it.
    pub silence: Limit,
    pub response: Limit,
    /// In total.
    pub whole: Duration,
}

impl WorkerLimits {
    /// The limits of a turn: that of the command, else those of its runtime, else of the run loop,
    /// else the defaults.
    pub fn of(
        config: &Config,
        runtime: &Runtime,
        deadline: Option<Time>,
        silence: Option<Duration>,
        now: Time,
    ) -> Self {
        let run_loop = config.document().get("run_loop").and_then(Value::as_object);
        let own = Some(&runtime.settings);
        let own_name = |name: &str| format!("runtimes.{}.{name}", runtime.id);
        let client = silent_client(&runtime.settings);
        let default = |after: Duration, setting: String| match client
            .clone()
            .map(LimitOrigin::SilentClient)
        {
            Some(origin) => Limit { after: SILENT_CLIENT, setting, origin },
            None => Limit { after, setting, origin: LimitOrigin::Default },
        };
        let configured = |after, setting| Limit { after, setting, origin: LimitOrigin::Configured };
        let chosen = |limit: Limit| match silence.map(|silence| silence.min(LONGEST)) {
            Some(after) => Limit { after, origin: LimitOrigin::Command, ..limit },
            None => limit,
        };
        let startup = "startup_watchdog_ms";
        let startup = match (millis(own, startup), millis(run_loop, startup)) {
            (Some(after), _) => configured(after, own_name(startup)),
            (None, Some(after)) => configured(after, format!("run_loop.{startup}")),
            (None, None) => default(STARTUP, own_name(startup)),
        };
        let setting = "run_loop.stale_turn_threshold_ms".to_owned();
        let stale = match millis(run_loop, "stale_turn_threshold_ms") {
            Some(after) => configured(after, setting),
            None => default(SILENCE, setting),
        };
        let setting = own_name("timeout_ms");
        let response = match millis(own, "timeout_ms") {
            Some(after) => configured(after, setting),
            None => Limit { after: RESPONSE, setting, origin: LimitOrigin::Default },
        };
        let whole =
            deadline.map_or(WHOLE, |deadline| Duration::from_millis(deadline.millis_since(now)));
        Self { startup: chosen(startup), silence: chosen(stale), response: chosen(response), whole }
    }
}

/// A worker that was ended because a limit passed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stalled {
    pub setting: String,
    pub limit: Duration,
    /// The limit that is proposed for the next attempt.
    pub raised: Duration,
}

impl Stalled {
    /// Reads it from the last failure of a turn's worker.
    pub fn of_turn(turn: &Turn) -> Option<Self> {
        Self::read(turn.member(LAST_FAILURE)?.as_object()?)
    }

    pub fn of_failure(failure: &Failure) -> Option<Self> {
        Self::read(failure.details.as_ref()?)
    }

    fn read(details: &Object) -> Option<Self> {
        let limit = Duration::from_millis(count_of(details.get(LIMIT_DETAIL)?)?);
        let setting = details.get(SETTING_DETAIL)?.as_str()?.to_owned();
        Some(Self { setting, limit, raised: raised(limit) })
    }
}

/// Twice the limit, in whole minutes, and not less than half an hour.
fn raised(limit: Duration) -> Duration {
    let minutes = limit.as_secs().div_ceil(60).saturating_mul(2);
    Duration::from_secs(minutes.saturating_mul(60)).max(LEAST_RAISED)
}

/// A time for people and for the option `--silence`.
pub fn span(time: Duration) -> String {
    let millis = time.as_millis();
    match (millis % 60_000, millis % 1_000) {
        (0, _) => format!("{}m", millis / 60_000),
        (_, 0) => format!("{}s", millis / 1_000),
        _ => format!("{millis}ms"),
    }
}

fn millis(settings: Option<&Object>, name: &str) -> Option<Duration> {
    let number = count_of(settings?.get(name)?)?;
    (number > 0).then(|| Duration::from_millis(number).min(LONGEST))
}

/// The client of a runtime, if it is known to print nothing until it is done.
fn silent_client(settings: &Object) -> Option<String> {
    let command = settings.get("command");
    let list = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut words = list(command);
    words.extend(command.and_then(Value::as_str).map(str::to_owned));
    words.extend(list(settings.get("args")));
    let mut words = words.iter().map(String::as_str);
    let mut program = name(words.next()?);
    while LAUNCHERS.contains(&program) {
        // Options and variables of the launcher come before the program.
        program = name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    SILENT_CLIENTS.contains(&program).then(|| program.to_owned())
}

/// The name of a program or package: without its folder or scope, and without its version.
fn name(word: &str) -> &str {
    let last = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    last.split_once('@').map_or(last, |(name, _)| name)
}

#[cfg(test)]
pub(super) mod tests {
    use accord_contract::Code;
    use serde_json::json;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn limits(runtime: Value, run_loop: Value, silence: Option<Duration>) -> WorkerLimits {
        let document = json!({"runtimes": {"agent": runtime}, "run_loop": run_loop});
        let config = Config::lenient(document.as_object().cloned().unwrap());
        WorkerLimits::of(&config, config.runtime("agent").unwrap(), None, silence, Time::MIN)
    }

    pub(in crate::liveness) fn of_command(command: Value) -> WorkerLimits {
        limits(json!({"type": "local_cli", "command": command}), json!({}), None)
    }

    #[test]
    fn the_command_comes_before_runtime_run_loop_and_default() {
        let plain = of_command(json!(["./agent.sh"]));
        assert_eq!((plain.startup.after, plain.silence.after), (STARTUP, SILENCE));
        assert_eq!(
            plain.startup.shown(),
            "runtimes.agent.startup_watchdog_ms is 180000, the default"
        );
        let agent = json!({"type": "local_cli", "command": ["claude"], "startup_watchdog_ms": 5});
        let run_loop = json!({"startup_watchdog_ms": 7, "stale_turn_threshold_ms": 9});
        let own = limits(agent.clone(), run_loop.clone(), None);
        assert_eq!(own.startup.shown(), "runtimes.agent.startup_watchdog_ms is 5");
        assert_eq!(own.silence.shown(), "run_loop.stale_turn_threshold_ms is 9");
        let shared = json!({"type": "local_cli", "command": ["claude"]});
        let shared = limits(shared, run_loop.clone(), None);
        assert_eq!(shared.startup.shown(), "run_loop.startup_watchdog_ms is 7");
        let command = limits(agent, run_loop, Some(seconds(1800)));
        assert_eq!(command.startup.after, seconds(1800));
        assert_eq!(
            command.silence.shown(),
            "--silence is 30m, instead of run_loop.stale_turn_threshold_ms"
        );
    }

    #[test]
    fn a_client_that_is_silent_has_a_long_limit() {
        for command in [
            json!("claude"),
            json!(["/usr/local/bin/codex", "exec"]),
            json!(["env", "-u", "X=1", "A=b", "gemini", "-p", "{prompt}"]),
            json!(["npx", "--yes", "@anthropic-ai/claude-code@2.1.0", "-p"]),
        ] {
            let limits = of_command(command.clone());
            assert_eq!(limits.startup.after, SILENT_CLIENT, "{command}");
            assert_eq!(limits.silence.after, SILENT_CLIENT, "{command}");
        }
        let shown = of_command(json!(["aider"])).silence.shown();
        assert_eq!(shown, "run_loop.stale_turn_threshold_ms is 1800000, the default for aider");
        for command in [json!(["sh", "-c", "claude -p x"]), json!(["env"]), json!([])] {
            assert_eq!(of_command(command.clone()).startup.after, STARTUP, "{command}");
        }
    }

    #[test]
    fn the_next_attempt_gets_more_time() {
        let limit = of_command(json!(["./agent.sh"])).startup;
        let failure = limit.explain(Failure::new(Code::XchainWorkerNotStarted, "silent"));
        let stalled = Stalled::of_failure(&failure).unwrap();
        assert_eq!((stalled.limit, stalled.raised), (STARTUP, seconds(1800)));
        assert_eq!(stalled.setting, "runtimes.agent.startup_watchdog_ms");
        assert_eq!(raised(seconds(1801)), seconds(62 * 60));
        let spans = [seconds(1800), seconds(90), Duration::from_millis(1500)].map(span);
        assert_eq!(spans, ["30m", "90s", "1500ms"]);
    }
}

//! The coding agents that a new project can name.

use accord_contract::Code;
use accord_runs::agents::{PRESETS, Preset};
use accord_runs::operations::{InitOptions, NewAgent, NewRole, Start, Step, init};
use accord_runs::{Environment, Runs};
use serde_json::{Value, json};

use crate::support::{Repo, refused};

/// A repository whose agent has this command and these roles.
fn governed(command: Vec<String>, roles: &[NewRole]) -> (Repo, Runs) {
    let repo = Repo::empty();
    let runtime = "agent".to_owned();
    let agent = Some(NewAgent { runtime, command, roles: roles.to_vec() });
    let options = InitOptions { agent, ..InitOptions::default() };
    init(&repo.root(), &options, &Environment::system()).unwrap();
    let runs = Runs::open(&repo.root(), Environment::system()).unwrap();
    (repo, runs)
}

fn runtimes(config: &Value) -> [&Value; 3] {
    ["pm", "dev", "qa"].map(|role| &config["roles"][role]["runtime"])
}

#[test]
fn every_preset_gives_a_runtime_that_any_runner_can_start() {
    for preset in PRESETS {
        let (repo, _) = governed(preset.command(), &[]);
        let config = repo.json("agentxchain.json");
        let runtime = &config["runtimes"]["agent"];
        assert_eq!(runtime["type"], "local_cli");
        assert_eq!(runtime["command"][0], preset.name);
        // A briefing can be longer than an argument.
        assert_eq!(runtime["prompt_transport"], "stdin");
        assert_eq!(runtimes(&config), ["agent", "agent", "by-hand"]);
        assert_eq!(Preset::named(preset.name), Some(&preset));
    }
    for (other, name) in [("claude-code", "claude"), ("codex-mcp-client", "codex")] {
        assert_eq!(Preset::named(other).map(|preset| preset.name), Some(name));
    }
    for other in ["Claude", "claude ", "claude -p", "copilot", ""] {
        assert_eq!(Preset::named(other), None, "{other:?}");
    }
}

#[test]
fn the_agent_has_the_roles_that_are_named() {
    let command = || vec!["sh".to_owned(), "agent.sh".to_owned()];
    let (repo, runs) = governed(command(), &[NewRole::Qa]);
    let config = repo.json("agentxchain.json");
    assert_eq!(runtimes(&config), ["by-hand", "by-hand", "agent"]);
    // A program cannot have a role that only reviews; the configuration would be refused.
    assert_eq!(config["roles"]["qa"]["write_authority"], "authoritative");
    runs.start(&Start::default()).unwrap();

    let (repo, _) = governed(command(), &[NewRole::Dev]);
    let config = repo.json("agentxchain.json");
    assert_eq!(runtimes(&config), ["by-hand", "agent", "by-hand"]);
    assert_eq!(config["roles"]["qa"]["write_authority"], "review_only");
}

#[test]
fn a_missing_client_is_reported_with_its_package() {
    let (repo, runs) = governed(vec!["nowhere/claude".into(), "-p".into()], &[]);
    let finding = runs.doctor().into_iter().next().unwrap();
    assert_eq!(finding.code, Some(Code::XchainRuntimeUnavailable));
    let install = "npm install --global @anthropic-ai/claude-code";
    assert!(finding.advice.contains(install), "{finding:?}");
    assert!(finding.message.ends_with("it runs the turns of pm, dev"), "{finding:?}");

    runs.start(&Start::default()).unwrap();
    let failure = refused(runs.step(&Step::default()), Code::XchainRuntimeUnavailable);
    assert!(failure.suggestion.unwrap().contains(install));
    assert_eq!(failure.details.unwrap()["npm_package"], "@anthropic-ai/claude-code");

    // Another program has no package that is known.
    repo.configure(|config| config["runtimes"]["agent"]["command"] = json!(["nowhere/mine"]));
    let finding = runs.doctor().into_iter().next().unwrap();
    assert_eq!(finding.code, Some(Code::XchainRuntimeUnavailable));
    assert!(!finding.advice.contains("npm"), "{finding:?}");
}

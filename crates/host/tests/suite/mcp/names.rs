//! The box of tools: names that are there twice, or not at all.

use accord_contract::{Code, Failure, Protocol};
use accord_host::mcp::{Effect, TOOLSETS, Tool, ToolResult, Toolbox, Toolset, Visibility};

const OTHER_DEPOSIT: Tool = Tool {
    name: "memory_deposit",
    description: "Another tool of a name that is taken.",
    arguments: &[],
    effect: Effect::Reads,
    ask: |_| Err(Failure::new(Code::HttpFault, "it is never called")),
    answer: |_, answer| Ok(ToolResult::document(answer.text())),
    null_on: None,
};

static CLASHING: Toolset = Toolset {
    name: "clashing",
    protocol: Protocol::Accord,
    instructions: "",
    details: "",
    tools: &[OTHER_DEPOSIT],
    prompts: &[],
    resources: None,
    advice: &[],
    visibility: |_| Visibility::Model,
    is_cancellable: false,
};

#[test]
fn two_tools_of_one_name_refuse_to_start_naming_both_sets() {
    let failure = Toolbox::join(&[TOOLSETS[0], &CLASHING]).unwrap_err();
    assert_eq!(failure.code, Code::McpToolTwice);
    for name in ["memory_deposit", "memory and clashing"] {
        assert!(failure.message.contains(name), "{}", failure.message);
    }
    // The endpoints of a host refuse as well.
    let nobody = accord_host::mcp::HostAccess {
        api_for: std::sync::Arc::new(|_| super::fake::Fake::giving(serde_json::Value::Null)),
        is_accepted: std::sync::Arc::new(|_| Box::pin(async { true })),
        keep_open: std::sync::Arc::new(|| Box::new(())),
    };
    let sets = [TOOLSETS[0], &CLASHING];
    let endpoints =
        accord_host::mcp::service(nobody, &sets, Default::default(), Box::pin(async {}));
    assert_eq!(endpoints.err().unwrap().code, Code::McpToolTwice);
}

#[test]
fn a_list_names_tools_or_sets() {
    let all = || Toolbox::join(TOOLSETS).unwrap();
    let two = all().only(["memory_pull", "memory_deposit"]).unwrap();
    assert_eq!(two.names().collect::<Vec<_>>(), ["memory_pull", "memory_deposit"]);
    let memory = all().only(["memory"]).unwrap();
    assert!(memory.names().all(|name| name.starts_with("memory_")));
    let relay = all().only(["relay"]).unwrap();
    assert_eq!(relay.names().count(), 9);
    let both = all().only(["relay", "memory_pull"]).unwrap();
    assert_eq!(both.names().count(), 10);
    let failure = all().only(["memory_pul"]).unwrap_err();
    assert_eq!(failure.code, Code::McpToolUnknown);
    assert_eq!(failure.suggestion.unwrap(), "Did you mean memory_pull?");
}

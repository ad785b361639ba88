//! The tools of every protocol, over MCP.

mod inbox;

pub use accord_mcp::{
    Advice, Answer, ApiFor, Argument, Call, CallContext, Effect, HostAccess, HostRequest,
    IsAccepted, KeepOpen, ListRequest, McpEndpoints, Memo, OpenSession, Prompt, ResourcePage,
    ResourceSet, SessionLimits, Template, Tool, ToolError, ToolResult, Toolbox, Toolset,
    Visibility, parse_actor, serve, serve_stdio, service,
};

/// The names of all tools.
pub fn tool_names() -> Vec<&'static str> {
    let tools = TOOLSETS.iter().flat_map(|set| set.tools);
    tools.map(|tool| tool.name).collect()
}

/// All sets of tools. The first is the one that is offered if none is named.
pub const TOOLSETS: &[&Toolset] = &[
    &accord_memory_door::TOOLSET,
    &accord_memory_door::RELAY,
    &accord_tasks_door::TOOLSET,
    &accord_live_door::TOOLSET,
    &inbox::TOOLSET,
    &accord_runs_door::TOOLSET,
];

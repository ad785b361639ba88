//! What waits for people, for agents that read it: no tool of this set decides anything.

use accord_api::operations::inbox::{InboxQuery, ListInbox};
use accord_api::{Call as OperationCall, NoBody, NoParams};
use accord_contract::{Code, Protocol};
use accord_mcp::budget::{BUDGET, Shortening, budget, shortened};
use accord_mcp::call::id;
use accord_mcp::{Advice, Argument, Effect, HostRequest, Tool, ToolResult, Toolset, Visibility};

pub(super) static TOOLSET: Toolset = Toolset {
    name: "inbox",
    protocol: Protocol::Agentic,
    instructions: "Inbox: inbox_list says what waits for people.",
    details: "Only a person decides about it; do not repeat a question that waits there.",
    tools: &[LIST],
    prompts: &[],
    resources: None,
    advice: &[Advice::on(
        Code::AccessDenied,
        "Do not retry; ask a person for a key that covers this.",
    )],
    visibility: |_| Visibility::Model,
    is_cancellable: true,
};

const LIST: Tool = Tool {
    name: "inbox_list",
    description: "What waits for people, the most urgent first: kind, subject, since when, how \
        much waits behind it. words are claims.",
    arguments: &[
        Argument::text("project", "Default: all projects."),
        Argument::text("kind", "Such as package.review."),
        Argument::integer("limit", 1, 500, ""),
        Argument::text("cursor", ""),
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let text = |name: &str| call.text(name).map(str::to_owned);
        let project = call.text("project").map(|text| id("project", text)).transpose()?;
        let limit = call.number("limit").and_then(|limit| u32::try_from(limit).ok());
        let asked = InboxQuery {
            project,
            kind: text("kind"),
            count: true,
            limit: limit.or(Some(20)),
            cursor: text("cursor"),
            ..InboxQuery::default()
        };
        Ok(HostRequest::operation(&OperationCall::<ListInbox>::new(NoParams, asked, NoBody)))
    },
    answer: |call, answer| {
        const HOW: Shortening =
            Shortening { lists: &["items"], extras: &[], bare: None, named_by: Some("handle") };
        shortened(answer.text(), budget(call), &HOW).map(ToolResult::document)
    },
    null_on: None,
};

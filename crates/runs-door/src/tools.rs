//! The tools of governed runs: where a run is, what it did, what a turn is to do, its result. No
//! tool approves anything, or sends it back: that is for people.

use accord_api::parameter::InProject;
use accord_api::{Call as OperationCall, Json, NoBody, NoParams, Operation};
use accord_contract::{Code, Failure, Protocol, Value};
use accord_mcp::budget::{BUDGET, Shortening, budget, shortened};
use accord_mcp::call::id;
use accord_mcp::{
    Advice, Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult, Toolset, Visibility,
};
use accord_runs_core::operations::joined::{
    JoinedRunHistory, LONGEST_WAIT, ListJoinedRuns, MOST_TURNS, OfRun, ReadJoinedRun,
    ReadRunPrompt, RunHistoryQuery, RunPromptEnvelope, RunPromptQuery, RunStageRequest,
    RunWaitQuery, StageRunResult, WaitForRun,
};

/// The tools of governed runs.
pub static TOOLSET: Toolset = Toolset {
    name: "runs",
    protocol: Protocol::Agentic,
    instructions: "Runs: run_status lists them.",
    details: "These are governed runs of joined repositories. A run is named by its id, or by the \
        edge_id of its repository; as_of says how old an answer is. run_wait returns when \
        something changed: pass the version of the last answer as since. Gates are for people: \
        wait, do not decide. run_elsewhere: the repository is on another machine; its message \
        says what a person does there.",
    tools: &[STATUS, HISTORY, PROMPT, WAIT, STAGE],
    prompts: &[],
    resources: None,
    advice: &[
        Advice::about(
            Code::McpArgumentMissing,
            "project_id",
            "Pass project_id: the project that the repository is joined to.",
        ),
        Advice::on(Code::EdgeNotFound, "Call run_status without run: it lists the runs."),
        Advice::on(Code::IdAmbiguous, "Pass the edge_id of the repository as run."),
        Advice::on(
            Code::RunElsewhere,
            "Do not retry: tell the person you work for what the message says.",
        ),
        Advice::on(Code::AccessDenied, "Do not retry; ask a person for a key that covers this."),
    ],
    visibility: |_| Visibility::Model,
    is_cancellable: true,
};

const PROJECT: Argument = Argument::project("");
const RUN: Argument = Argument::text("run", "Its id, or the edge_id of its repository.");

const STATUS: Tool = Tool {
    name: "run_status",
    description: "Where a run is: phase, status, active turns, what waits for a person. Without \
        run: all runs.",
    arguments: &[PROJECT, RUN, BUDGET],
    effect: Effect::Reads,
    ask: |call| match call.text("run") {
        Some(_) => Ok(asking::<ReadJoinedRun>(of_run(call)?, NoParams, NoBody)),
        None => Ok(asking::<ListJoinedRuns>(in_project(call)?, NoParams, NoBody)),
    },
    answer: within_budget,
    null_on: None,
};

const HISTORY: Tool = Tool {
    name: "run_history",
    description: "The newest accepted turns of a run, with summary and decisions if they are sent.",
    arguments: &[
        PROJECT,
        RUN.required(),
        Argument::integer("last", 1, MOST_TURNS as i64, "Default: 20."),
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let last = call.number("last").and_then(|last| u32::try_from(last).ok());
        Ok(asking::<JoinedRunHistory>(of_run(call)?, RunHistoryQuery { last }, NoBody))
    },
    answer: within_budget,
    null_on: None,
};

const PROMPT: Tool = Tool {
    name: "run_prompt",
    description: "What an active turn is to do, in Markdown.",
    arguments: &[PROJECT, RUN.required(), Argument::text("turn", "Default: the only one.")],
    effect: Effect::Reads,
    ask: |call| {
        let query = RunPromptQuery { turn: text(call, "turn") };
        Ok(asking::<ReadRunPrompt>(of_run(call)?, query, NoBody))
    },
    answer: |_, answer| {
        Ok(ToolResult::document(answer.read::<Json<RunPromptEnvelope>>()?.0.prompt))
    },
    null_on: None,
};

const WAIT: Tool = Tool {
    name: "run_wait",
    description: "Waits until a run changes. changed false: nothing happened; call it again with \
        since: the version of the answer.",
    arguments: &[
        PROJECT,
        RUN.required(),
        Argument::text("since", "version of an earlier answer."),
        Argument::integer("timeout", 0, LONGEST_WAIT as i64, "Seconds; default 50."),
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let wait = call.number("timeout").and_then(|seconds| u32::try_from(seconds).ok());
        let wait_seconds = Some(wait.unwrap_or(LONGEST_WAIT));
        let query = RunWaitQuery { since: text(call, "since"), wait_seconds };
        Ok(asking::<WaitForRun>(of_run(call)?, query, NoBody))
    },
    answer: within_budget,
    null_on: None,
};

const STAGE: Tool = Tool {
    name: "run_stage",
    description: "Stages the result of your turn, for the loop of the run to judge. Replaces an \
        earlier one.",
    arguments: &[
        PROJECT,
        RUN.required(),
        Argument::text("turn", "Default: the only active one."),
        Argument::text("summary", "").required(),
        Argument::texts("decisions", ""),
        Argument::texts("objections", ""),
        Argument::texts("files", "Changed files. Default: what git reports."),
        Argument::flag("no_files", ""),
        Argument::texts("verified", "Commands that passed."),
        Argument::text("next_role", ""),
        Argument::flag("next_phase", "The phase is complete."),
        Argument::flag("complete", "The run is complete."),
        Argument::text("needs_human", "What a person must decide first."),
    ],
    effect: Effect::Adds,
    ask: |call| {
        let request = RunStageRequest {
            turn_id: text(call, "turn"),
            summary: call.required("summary")?.to_owned(),
            decisions: texts(call, "decisions"),
            objections: texts(call, "objections"),
            files: texts(call, "files"),
            no_files: call.flag("no_files"),
            verified: texts(call, "verified"),
            next_role: text(call, "next_role"),
            next_phase: call.flag("next_phase"),
            complete: call.flag("complete"),
            needs_human: text(call, "needs_human"),
            members: None,
        };
        Ok(asking::<StageRunResult>(of_run(call)?, NoParams, Json(request)))
    },
    answer: within_budget,
    null_on: None,
};

fn asking<O: Operation>(path: O::Path, query: O::Query, body: O::Body) -> HostRequest {
    HostRequest::operation(&OperationCall::<O>::new(path, query, body))
}

fn in_project(call: &Call<'_>) -> Result<InProject, Failure> {
    Ok(InProject { project: id("project_id", call.project()?)? })
}

fn of_run(call: &Call<'_>) -> Result<OfRun, Failure> {
    let InProject { project } = in_project(call)?;
    Ok(OfRun { project, run: call.required("run")?.to_owned() })
}

fn text(call: &Call<'_>, name: &str) -> Option<String> {
    call.text(name).map(str::to_owned)
}

fn texts(call: &Call<'_>, name: &str) -> Option<Vec<String>> {
    let list = call.value(name)?.as_array()?.iter();
    Some(list.filter_map(Value::as_str).map(str::to_owned).collect())
}

fn within_budget(call: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    const HOW: Shortening = Shortening {
        lists: &["runs", "turns"],
        extras: &[],
        bare: None,
        named_by: Some("turn_id"),
    };
    shortened(answer.text(), budget(call), &HOW).map(ToolResult::document)
}

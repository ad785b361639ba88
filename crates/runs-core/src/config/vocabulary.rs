//! The known members of `agentxchain.json`, and whether they have an effect.

use crate::mistyped_members::MemberType::{Amount, Count, Flag, Text, Texts};
use crate::unknown_members::{KnownMember, Shape, decides, guards, kept};

pub(super) static DOCUMENT: [KnownMember; 25] = [
    decides("schema_version"),
    decides("project").of(Shape::Object(&PROJECT)),
    decides("roles").of(Shape::Map(&Shape::Object(&ROLE))),
    decides("runtimes").of(Shape::Map(&Shape::ByType(&RUNTIME))),
    guards("routing").of(Shape::Map(&Shape::Object(&ROUTE))),
    guards("gates").of(Shape::Map(&Shape::Object(&GATE))),
    decides("hooks").of(HOOKS),
    decides("workflow_kit").of(Shape::Object(&WORKFLOW_KIT)),
    decides("rules").of(Shape::Object(&RULES)),
    decides("budget").of(Shape::Object(&BUDGET)),
    decides("policies").of(Shape::List(&Shape::Object(&POLICY))),
    decides("approval_policy").of(Shape::Object(&APPROVAL)),
    decides("timeouts").of(Shape::Object(&TIMEOUTS)),
    decides("prompts").of(TEXTS_BY_NAME),
    decides("gate_semantic_coverage_mode").is(Text),
    decides("run_loop").of(Shape::Object(&RUN_LOOP)),
    kept("template"),
    kept("notifications"),
    kept("schedules"),
    kept("retention"),
    kept("intent_coverage_mode"),
    kept("intake"),
    kept("files"),
    kept("compat"),
    kept("mission_planner"),
];

pub(crate) const HOOKS: Shape = Shape::Map(&Shape::List(&Shape::Object(&HOOK)));

const TEXTS_BY_NAME: Shape = Shape::Map(&Shape::Value(Text));

static HOOK: [KnownMember; 9] = [
    decides("name").is(Text),
    decides("type").is(Text),
    decides("command"),
    decides("url").is(Text),
    decides("method").is(Text),
    decides("headers").of(TEXTS_BY_NAME),
    decides("timeout_ms").is(Count),
    decides("mode").is(Text),
    decides("env").of(TEXTS_BY_NAME),
];

static PROJECT: [KnownMember; 4] = [
    decides("id").is(Text),
    decides("name").is(Text),
    decides("goal").is(Text),
    kept("default_branch"),
];

static ROLE: [KnownMember; 6] = [
    decides("title").is(Text),
    decides("mandate").is(Text),
    decides("write_authority").is(Text),
    decides("runtime").is(Text),
    decides("decision_authority").is(Count),
    decides("declared_file_scope").is(Texts),
];

static RUNTIME: [(&str, &[KnownMember]); 5] = [
    ("manual", &[decides("type").is(Text), kept("capabilities")]),
    (
        "local_cli",
        &[
            decides("type").is(Text),
            decides("command"),
            decides("args").is(Texts),
            decides("cwd").is(Text),
            decides("prompt_transport").is(Text),
            decides("startup_watchdog_ms").is(Count),
            kept("startup_heartbeat_ms"),
            kept("liveness_heartbeat_ms"),
            kept("capabilities"),
        ],
    ),
    // An unsupported runtime is reported as a whole. Its members are checked anyway.
    (
        "api_proxy",
        &[
            decides("type").is(Text),
            decides("provider").is(Text),
            decides("model").is(Text),
            decides("auth_env").is(Text),
            decides("base_url").is(Text),
            decides("max_output_tokens").is(Count),
            decides("context_window_tokens").is(Count),
            decides("retry_policy").of(Shape::Object(&RETRY_POLICY)),
            decides("preflight_tokenization").of(Shape::Object(&PREFLIGHT)),
            kept("capabilities"),
        ],
    ),
    (
        "mcp",
        &[
            decides("type").is(Text),
            decides("transport").is(Text),
            decides("command"),
            decides("args").is(Texts),
            decides("cwd").is(Text),
            decides("url").is(Text),
            decides("headers").of(TEXTS_BY_NAME),
            decides("tool_name").is(Text),
            kept("capabilities"),
        ],
    ),
    (
        "remote_agent",
        &[
            decides("type").is(Text),
            decides("url").is(Text),
            decides("headers").of(TEXTS_BY_NAME),
            decides("timeout_ms").is(Count),
            kept("capabilities"),
        ],
    ),
];

static RETRY_POLICY: [KnownMember; 7] = [
    decides("enabled").is(Flag),
    decides("max_attempts").is(Count),
    decides("base_delay_ms").is(Count),
    decides("max_delay_ms").is(Count),
    decides("backoff_multiplier").is(Amount),
    decides("jitter").is(Text),
    decides("retry_on").is(Texts),
];

static PREFLIGHT: [KnownMember; 3] = [
    decides("enabled").is(Flag),
    decides("tokenizer").is(Text),
    decides("safety_margin_tokens").is(Count),
];

static ROUTE: [KnownMember; 6] = [
    decides("entry_role").is(Text),
    guards("allowed_next_roles").is(Texts),
    guards("exit_gate").is(Text),
    decides("max_concurrent_turns").is(Count),
    decides("timeout_minutes").is(Count),
    decides("timeout_action").is(Text),
];

static GATE: [KnownMember; 5] = [
    guards("requires_files").is(Texts),
    guards("requires_verification_pass").is(Flag),
    guards("requires_human_approval").is(Flag),
    guards("credentialed").is(Flag),
    guards("gate_actions").of(Shape::List(&Shape::Object(&GATE_ACTION))),
];

static GATE_ACTION: [KnownMember; 3] =
    [guards("run").is(Text), decides("label").is(Text), decides("timeout_ms").is(Count)];

static WORKFLOW_KIT: [KnownMember; 1] =
    [guards("phases").of(Shape::Map(&Shape::Object(&WORKFLOW_PHASE)))];

static WORKFLOW_PHASE: [KnownMember; 2] =
    [guards("template").is(Text), guards("artifacts").of(Shape::List(&Shape::Object(&ARTIFACT)))];

static ARTIFACT: [KnownMember; 5] = [
    guards("path").is(Text),
    guards("semantics").is(Text),
    guards("semantics_config").of(Shape::Object(&SECTIONS)),
    decides("required").is(Flag),
    guards("owned_by").is(Text),
];

static SECTIONS: [KnownMember; 1] = [guards("required_sections").is(Texts)];

/// The protocol does not define deadlock cycles precisely enough to enforce them.
/// [`progress`](crate::progress) stops a run that makes no progress.
static RULES: [KnownMember; 3] = [
    decides("challenge_required").is(Flag),
    decides("max_turn_retries").is(Count),
    kept("max_deadlock_cycles"),
];

static BUDGET: [KnownMember; 4] = [
    decides("per_turn_max_usd").is(Amount),
    decides("per_run_max_usd").is(Amount),
    decides("on_exceed").is(Text),
    kept("cost_rates"),
];

static POLICY: [KnownMember; 6] = [
    decides("id").is(Text),
    decides("rule").is(Text),
    decides("action").is(Text),
    decides("params").of(Shape::Object(&POLICY_PARAMS)),
    decides("scope").of(Shape::Object(&POLICY_SCOPE)),
    decides("message").is(Text),
];

static POLICY_PARAMS: [KnownMember; 3] =
    [decides("limit").is(Count), decides("limit_usd").is(Amount), decides("allowed").is(Texts)];

static POLICY_SCOPE: [KnownMember; 2] = [decides("phases").is(Texts), decides("roles").is(Texts)];

static APPROVAL: [KnownMember; 2] = [
    decides("phase_transitions").of(Shape::Object(&APPROVAL_OF_PHASES)),
    decides("run_completion").of(Shape::Object(&APPROVAL_OF_THE_END)),
];

static APPROVAL_OF_PHASES: [KnownMember; 2] =
    [decides("default").is(Text), decides("rules").of(Shape::List(&Shape::Object(&APPROVAL_RULE)))];

/// `when` is a guard: a rule without its conditions approves more than intended.
static APPROVAL_RULE: [KnownMember; 4] = [
    guards("from_phase").is(Text),
    guards("to_phase").is(Text),
    decides("action").is(Text),
    guards("when").of(Shape::Object(&CONDITIONS)),
];

static APPROVAL_OF_THE_END: [KnownMember; 2] =
    [decides("action").is(Text), guards("when").of(Shape::Object(&CONDITIONS))];

static CONDITIONS: [KnownMember; 4] = [
    guards("gate_passed").is(Flag),
    guards("roles_participated").is(Texts),
    guards("all_phases_visited").is(Flag),
    guards("credentialed_gate").is(Flag),
];

static TIMEOUTS: [KnownMember; 4] = [
    decides("per_turn_minutes").is(Count),
    decides("per_phase_minutes").is(Count),
    decides("per_run_minutes").is(Count),
    decides("action").is(Text),
];

/// Startup and idle timeouts of a worker, and the number of turns of a loop.
static RUN_LOOP: [KnownMember; 6] = [
    decides("startup_watchdog_ms").is(Count),
    decides("stale_turn_threshold_ms").is(Count),
    decides("max_turns").is(Count),
    kept("startup_heartbeat_ms"),
    kept("liveness_heartbeat_ms"),
    kept("continuous"),
];

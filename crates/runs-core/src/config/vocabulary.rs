//! The known members of `agentxchain.json`, and whether they have an effect.

use crate::unknown_members::{KnownMember, Shape, decides, guards, kept};

/// The members of the document.
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
    decides("prompts"),
    decides("gate_semantic_coverage_mode"),
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

/// Hooks of a run or a coordinator.
pub(crate) const HOOKS: Shape = Shape::Map(&Shape::List(&Shape::Object(&HOOK)));

static HOOK: [KnownMember; 9] = [
    decides("name"),
    decides("type"),
    decides("command"),
    decides("url"),
    decides("method"),
    decides("headers"),
    decides("timeout_ms"),
    decides("mode"),
    decides("env"),
];

static PROJECT: [KnownMember; 4] =
    [decides("id"), decides("name"), decides("goal"), kept("default_branch")];

static ROLE: [KnownMember; 6] = [
    decides("title"),
    decides("mandate"),
    decides("write_authority"),
    decides("runtime"),
    decides("decision_authority"),
    decides("declared_file_scope"),
];

static RUNTIME: [(&str, &[KnownMember]); 5] = [
    ("manual", &[decides("type"), kept("capabilities")]),
    (
        "local_cli",
        &[
            decides("type"),
            decides("command"),
            decides("args"),
            decides("cwd"),
            decides("prompt_transport"),
            decides("startup_watchdog_ms"),
            kept("startup_heartbeat_ms"),
            kept("liveness_heartbeat_ms"),
            kept("capabilities"),
        ],
    ),
    // An unsupported runtime is reported as a whole. Its members are checked anyway.
    (
        "api_proxy",
        &[
            decides("type"),
            decides("provider"),
            decides("model"),
            decides("auth_env"),
            decides("base_url"),
            decides("max_output_tokens"),
            decides("context_window_tokens"),
            decides("retry_policy").of(Shape::Object(&RETRY_POLICY)),
            decides("preflight_tokenization").of(Shape::Object(&PREFLIGHT)),
            kept("capabilities"),
        ],
    ),
    (
        "mcp",
        &[
            decides("type"),
            decides("transport"),
            decides("command"),
            decides("args"),
            decides("cwd"),
            decides("url"),
            decides("headers"),
            decides("tool_name"),
            kept("capabilities"),
        ],
    ),
    (
        "remote_agent",
        &[
            decides("type"),
            decides("url"),
            decides("headers"),
            decides("timeout_ms"),
            kept("capabilities"),
        ],
    ),
];

static RETRY_POLICY: [KnownMember; 7] = [
    decides("enabled"),
    decides("max_attempts"),
    decides("base_delay_ms"),
    decides("max_delay_ms"),
    decides("backoff_multiplier"),
    decides("jitter"),
    decides("retry_on"),
];

static PREFLIGHT: [KnownMember; 3] =
    [decides("enabled"), decides("tokenizer"), decides("safety_margin_tokens")];

static ROUTE: [KnownMember; 6] = [
    decides("entry_role"),
    guards("allowed_next_roles"),
    guards("exit_gate"),
    decides("max_concurrent_turns"),
    decides("timeout_minutes"),
    decides("timeout_action"),
];

static GATE: [KnownMember; 5] = [
    guards("requires_files"),
    guards("requires_verification_pass"),
    guards("requires_human_approval"),
    guards("credentialed"),
    guards("gate_actions").of(Shape::List(&Shape::Object(&GATE_ACTION))),
];

static GATE_ACTION: [KnownMember; 3] = [guards("run"), decides("label"), decides("timeout_ms")];

static WORKFLOW_KIT: [KnownMember; 1] =
    [guards("phases").of(Shape::Map(&Shape::Object(&WORKFLOW_PHASE)))];

static WORKFLOW_PHASE: [KnownMember; 2] =
    [guards("template"), guards("artifacts").of(Shape::List(&Shape::Object(&ARTIFACT)))];

static ARTIFACT: [KnownMember; 5] = [
    guards("path"),
    guards("semantics"),
    guards("semantics_config").of(Shape::Object(&SECTIONS)),
    decides("required"),
    guards("owned_by"),
];

static SECTIONS: [KnownMember; 1] = [guards("required_sections")];

/// The protocol does not define deadlock cycles precisely enough to enforce them.
/// [`progress`](crate::progress) stops a run that makes no progress.
static RULES: [KnownMember; 3] =
    [decides("challenge_required"), decides("max_turn_retries"), kept("max_deadlock_cycles")];

static BUDGET: [KnownMember; 4] = [
    decides("per_turn_max_usd"),
    decides("per_run_max_usd"),
    decides("on_exceed"),
    kept("cost_rates"),
];

static POLICY: [KnownMember; 6] = [
    decides("id"),
    decides("rule"),
    decides("action"),
    decides("params").of(Shape::Object(&POLICY_PARAMS)),
    decides("scope").of(Shape::Object(&POLICY_SCOPE)),
    decides("message"),
];

static POLICY_PARAMS: [KnownMember; 3] =
    [decides("limit"), decides("limit_usd"), decides("allowed")];

static POLICY_SCOPE: [KnownMember; 2] = [decides("phases"), decides("roles")];

static APPROVAL: [KnownMember; 2] = [
    decides("phase_transitions").of(Shape::Object(&APPROVAL_OF_PHASES)),
    decides("run_completion").of(Shape::Object(&APPROVAL_OF_THE_END)),
];

static APPROVAL_OF_PHASES: [KnownMember; 2] =
    [decides("default"), decides("rules").of(Shape::List(&Shape::Object(&APPROVAL_RULE)))];

/// `when` is a guard: a rule without its conditions approves more than intended.
static APPROVAL_RULE: [KnownMember; 4] = [
    guards("from_phase"),
    guards("to_phase"),
    decides("action"),
    guards("when").of(Shape::Object(&CONDITIONS)),
];

static APPROVAL_OF_THE_END: [KnownMember; 2] =
    [decides("action"), guards("when").of(Shape::Object(&CONDITIONS))];

static CONDITIONS: [KnownMember; 4] = [
    guards("gate_passed"),
    guards("roles_participated"),
    guards("all_phases_visited"),
    guards("credentialed_gate"),
];

static TIMEOUTS: [KnownMember; 4] = [
    decides("per_turn_minutes"),
    decides("per_phase_minutes"),
    decides("per_run_minutes"),
    decides("action"),
];

/// Startup and idle timeouts of a worker, and the number of turns of a loop.
static RUN_LOOP: [KnownMember; 6] = [
    decides("startup_watchdog_ms"),
    decides("stale_turn_threshold_ms"),
    decides("max_turns"),
    kept("startup_heartbeat_ms"),
    kept("liveness_heartbeat_ms"),
    kept("continuous"),
];

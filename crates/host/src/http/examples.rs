//! An example command for each route.
//!
//! The commands are in an order that works on a new server: each uses what earlier ones created. A
//! test runs them all. Values that only an answer contains are shell variables, such as
//! `$SESSION_ID` and `$ACCORD_KEY`.

use accord_base::Need;

use super::groups::every_declaration;

/// A command, and the status of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub route: &'static str,
    pub command: &'static str,
    pub status: u16,
}

pub(super) fn of(route: &str) -> impl Iterator<Item = String> {
    let examples = EXAMPLES.iter().filter(move |example| example.route == route);
    examples.map(Example::shown)
}

impl Example {
    /// The command as a page shows it. Without a key, what decides or administers goes through the
    /// socket of the data folder.
    pub fn shown(&self) -> String {
        let declared = every_declaration().into_iter().find(|it| it.name == self.route);
        let decides = declared.is_some_and(|it| matches!(it.need, Need::Decide(_) | Need::Admin));
        let has_other = ["Authorization", "Origin", "--unix-socket"];
        if !decides || has_other.iter().any(|part| self.command.contains(part)) {
            return self.command.to_owned();
        }
        self.command.replacen("curl ", "curl --unix-socket .accord/accord.sock ", 1)
    }
}

/// The address of a path of the server, bare or in quotes of the shell.
macro_rules! address {
    ($path:literal) => {
        concat!("http://127.0.0.1:7171", $path)
    };
    (single $path:literal) => {
        concat!("'http://127.0.0.1:7171", $path, "'")
    };
    (double $path:literal) => {
        concat!("\"http://127.0.0.1:7171", $path, "\"")
    };
}

/// The command for a request: its method, its document if it has one, and its address; or the parts
/// of the command.
macro_rules! command {
    (GET $($url:tt)+) => { concat!("curl ", address!($($url)+)) };
    (POST $($url:tt)+) => { concat!("curl -X POST ", address!($($url)+)) };
    (DELETE $($url:tt)+) => { concat!("curl -X DELETE ", address!($($url)+)) };
    (JSON $body:literal $($url:tt)+) => {
        concat!("curl --json '", $body, "' ", address!($($url)+))
    };
    ($method:ident $body:literal $($url:tt)+) => {
        concat!("curl -X ", stringify!($method), " --json '", $body, "' ", address!($($url)+))
    };
    ($($part:literal)+) => { concat!($($part),+) };
}

/// Declares the list: a route, the status, the command.
macro_rules! examples {
    ($($route:literal $status:literal ($($command:tt)+);)+) => {
        /// Every example.
        pub const EXAMPLES: &[Example] = &[$(Example {
            route: $route,
            command: command!($($command)+),
            status: $status,
        }),+];
    };
}

examples! {
    "live_channel" 400 (GET "/ws");
    "live_state" 401 (GET single "/api/sessions/ticket-7/state?wsToken=TOKEN");
    "live_events" 401 (GET single "/api/sessions/ticket-7/events?sinceSequence=0&wsToken=TOKEN");
    "live_stream" 401 (GET single "/api/sessions/ticket-7/stream?wsToken=TOKEN");
    "live_code" 404
        (GET "/code/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.js");
    "live_alive" 200 (GET "/ggui/live");
    "live_health" 200 (GET "/ggui/health");
    "live_auth_check" 204 (GET "/ggui/auth-check");
    "health" 200 (GET "/healthz");
    "conformance" 200 (GET "/v1/conformance");
    "create_project" 201 (JSON r#"{"project_id":"atlas","name":"Atlas"}"# "/v1/projects");
    "projects" 200 (GET single "/v1/projects?limit=20");
    "project" 200 (GET "/v1/projects/atlas");
    "change_project" 200 (PATCH r#"{"description":"The map service"}"# "/v1/projects/atlas");
    "start_session" 201 (JSON r#"{"actor_id":"builder","actor_type":"agent"}"#
        "/v1/projects/atlas/sessions");
    "deposit" 201
        (r#"curl --json '{
  "package_id": "pkg_0a1b", "project_id": "atlas", "relay_version": "0.1",
  "title": "Tiles are cut at zoom 12", "status": "draft", "package_type": "standard", "#
        r#""review_type": "none",
  "created_at": "2026-11-15T08:00:00Z", "created_by": {"id": "builder", "type": "agent"},
  "decisions_made": ["Cut tiles at zoom 12"], "open_questions": ["Who pays for storage?"]
}' http://127.0.0.1:7171/v1/projects/atlas/packages"#);
    "ids" 200 (GET single "/accord/v1/ids?prefix=pkg_0a");
    "package" 200 (GET "/v1/packages/pkg_0a1b");
    "pull" 200 (GET single "/v1/projects/atlas/packages?mode=relevant&query=tiles+storage");
    "questions" 200 (GET single "/v1/projects/atlas/questions?all=true");
    "orient" 200 (GET single "/v1/projects/atlas/orient?window_days=7");
    "briefing" 200 (GET single "/v1/projects/atlas/briefing?focus=storage");
    "orchestrate" 200 (GET single "/v1/orchestrate?project=atlas&focus=storage");
    "flag" 200 (JSON r#"{"review_type":"human","note":"Is zoom 12 enough?"}"#
        "/v1/packages/pkg_0a1b/flag");
    "inbox" 200 (GET single "/accord/v1/inbox?project=atlas&count=true");
    "inbox_item" 200 (GET "/accord/v1/inbox/package.review:atlas:pkg_0a1b:2");
    "mark_inbox_item" 200 (JSON r#"{"mark":"claim"}"#
        single "/accord/v1/inbox/package.review:atlas:pkg_0a1b:2/mark?actor=human:lead");
    "set_notifications" 200 (PUT r#"{"rules":[{"name":"phone","format":"mail","urgency":2}]}"#
        "/accord/v1/notifications?actor=human:lead");
    "notifications" 200 (GET "/accord/v1/notifications?actor=human:lead");
    "follow_inbox" 200
        ("curl --no-buffer --max-time 2 http://127.0.0.1:7171/accord/v1/inbox/events");
    "watch_events" 200
        ("curl --no-buffer --max-time 2 http://127.0.0.1:7171/accord/v1/events");
    "reviews" 200 (GET "/v1/projects/atlas/reviews");
    "review" 200 (JSON r#"{"outcome":"revision_requested","note":"Name the cost"}"#
        "/v1/packages/pkg_0a1b/review");
    "resubmit" 200 (JSON "{}" "/v1/packages/pkg_0a1b/resubmit");
    "deposit" 201
        (r#"curl --json '{
  "project_id": "atlas", "relay_version": "0.1", "package_id": "pkg_2c3d", "#
        r#""parent_package_id": "pkg_0a1b",
  "title": "What storage costs", "status": "draft", "package_type": "analysis", "#
        r#""review_type": "none",
  "created_at": "2026-11-15T09:00:00Z", "created_by": {"id": "builder", "type": "agent"}
}' http://127.0.0.1:7171/v1/projects/atlas/packages"#);
    "complete" 200 (JSON "{}" "/v1/packages/pkg_2c3d/complete");
    "revisions" 200 (GET "/v1/packages/pkg_0a1b/revisions");
    "assert_fact" 201
        ("curl --json "
        r#"'{"fact_id":"fact_0a1b","subject":"tiles","predicate":"zoom","value":"12"}' "#
        "http://127.0.0.1:7171/v1/projects/atlas/facts");
    "facts" 200 (GET single "/v1/projects/atlas/facts?subject=tiles");
    "fact" 200 (GET "/v1/facts/fact_0a1b");
    "invalidate_fact" 200 (DELETE single "/v1/projects/atlas/facts?subject=tiles&predicate=zoom");
    "sessions" 200 (GET single "/v1/projects/atlas/sessions?active=true");
    "session" 200 (GET "/v1/sessions/$SESSION_ID");
    "end_session" 200 (PATCH "{}" "/v1/sessions/$SESSION_ID");
    "events" 200
        ("curl --no-buffer --max-time 2 -H 'Last-Event-ID: 0' "
        "http://127.0.0.1:7171/v1/projects/atlas/events");
    "put_blob" 201
        ("curl -X PUT --data-binary hello "
        "http://127.0.0.1:7171/v1/blobs/sha256:"
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    "get_blob" 200
        (GET "/v1/blobs/sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    "export" 200 ("curl -o atlas.ndjson http://127.0.0.1:7171/v1/projects/atlas/export");
    "import" 200
        ("curl -H 'Content-Type: application/x-ndjson' --data-binary @atlas.ndjson "
        "http://127.0.0.1:7171/v1/projects/atlas/import");
    "archive" 200 (POST "/v1/projects/atlas/archive");
    "unarchive" 200 (POST "/v1/projects/atlas/unarchive");
    "init_tasks" 200 (JSON r#"{"title":"The map service"}"#
        single "/accord/v1/projects/atlas/tasks/init?actor=human:lead");
    "create_task" 201 (JSON r#"{"title":"Cut the tiles","instructions":"At zoom 12.","ready":true}"#
        single "/accord/v1/projects/atlas/tasks?actor=human:lead");
    "create_tasks" 200
        (r#"curl --json '{"dry_run": true, "tasks": [
  {"title": "Choose the colours", "key": "colours"},
  {"title": "Colour the tiles", "depends_on": ["colours"], "due": "2099-01-31"}
]}' "http://127.0.0.1:7171/accord/v1/projects/atlas/tasks/batch?actor=human:lead""#);
    "comment_on_task" 200 (JSON r#"{"text":"Begin with the coast."}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/comments?actor=human:lead");
    "tasks" 200 (GET single "/accord/v1/projects/atlas/tasks?status=ready,blocked");
    "task_board" 200 (GET single "/accord/v1/projects/atlas/tasks/board?limit=5");
    "task" 200 (GET "/accord/v1/projects/atlas/tasks/$TASK_ID");
    "edit_task" 200 (PATCH r#"{"priority":"high","tags":["tiles"]}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID?actor=human:lead");
    "claim_next_task" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/claim-next");
    "task_heartbeat" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/$TASK_ID/heartbeat");
    "task_briefing" 200
        ("curl \"http://127.0.0.1:7171/accord/v1/projects/atlas/tasks/$TASK_ID/briefing"
        "?max_tokens=1000\"");
    "release_task" 200 (JSON r#"{"agent":"builder","reason":"Out of time"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/release?actor=builder");
    "claim_task" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/$TASK_ID/claim");
    "block_task" 200 (JSON r#"{"reason":"No access to the storage"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/block?actor=builder");
    "unblock_task" 200
        (POST double "/accord/v1/projects/atlas/tasks/$TASK_ID/unblock?actor=human:lead");
    "claim_task" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/$TASK_ID/claim");
    "stage_output" 409
        ("curl -X PUT --data-binary hello "
        "\"http://127.0.0.1:7171/accord/v1/projects/atlas/tasks/$TASK_ID/outputs?agent=builder"
        "&run_id=run-1&path=outputs/tiles.json&size=5&sha256="
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"");
    "task_outputs" 200 (GET "/accord/v1/projects/atlas/tasks/$TASK_ID/outputs");
    "task_file" 404
        ("curl \"http://127.0.0.1:7171/accord/v1/projects/atlas/tasks/$TASK_ID/file"
        "?path=outputs/tiles.json\"");
    "aof_message" 200
        (r#"curl --json '{
  "protocol": "aof", "version": 1, "type": "completion.report", "taskId": "'"$TASK_ID"'",
  "fromAgent": "builder", "toAgent": "accord", "sentAt": "2099-01-01T00:00:00Z",
  "payload": {
    "outcome": "done", "summaryRef": "outputs/summary.md", "deliverables": ["outputs/tiles.json"],
    "tests": {"total": 3, "passed": 3, "failed": 0}, "blockers": [], "notes": "All tiles are cut."
  }
}' http://127.0.0.1:7171/accord/v1/projects/atlas/aof/messages"#);
    "send_back_task" 200 (JSON r#"{"reason":"Zoom 13 is missing"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/send-back?actor=human:lead");
    "claim_task" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/$TASK_ID/claim");
    "aof_message" 200
        (r#"curl --json '{
  "protocol": "aof", "version": 1, "type": "completion.report", "taskId": "'"$TASK_ID"'",
  "fromAgent": "builder", "toAgent": "accord", "sentAt": "2099-01-01T00:00:00Z",
  "payload": {
    "outcome": "done", "summaryRef": "outputs/summary.md",
    "tests": {"total": 4, "passed": 4, "failed": 0}, "notes": "Zoom 13 is cut, too."
  }
}' http://127.0.0.1:7171/accord/v1/projects/atlas/aof/messages"#);
    "approve_task" 200 (JSON r#"{"note":"Complete"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/approve?actor=human:lead");
    "reopen_task" 200 (JSON r#"{"reason":"Zoom 14 is missing"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/reopen?actor=human:lead");
    "end_task_session" 200 (JSON r#"{"agent":"builder"}"#
        "/accord/v1/projects/atlas/tasks/session-end");
    "end_task_run" 200 (JSON r#"{"agent":"builder","run_id":"run-1","exit":"success"}"#
        "/accord/v1/projects/atlas/tasks/$TASK_ID/run-end");
    "create_task" 201 (JSON r#"{"title":"Publish the tiles"}"#
        single "/accord/v1/projects/atlas/tasks?actor=human:lead");
    "promote_task" 200
        (POST double "/accord/v1/projects/atlas/tasks/$TASK_ID/promote?actor=human:lead");
    "add_dependency" 200 (JSON r#"{"blocker":"'"$FIRST_TASK_ID"'"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/dependencies?actor=human:lead");
    "remove_dependency" 200
        ("curl -X DELETE "
        "\"http://127.0.0.1:7171/accord/v1/projects/atlas/tasks/$TASK_ID/dependencies/"
        "$FIRST_TASK_ID?actor=human:lead\"");
    "resurrect_task" 409
        (POST double "/accord/v1/projects/atlas/tasks/$TASK_ID/resurrect?actor=human:lead");
    "close_task" 200 (JSON r#"{"note":"Published by hand"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/close?actor=human:lead");
    "create_task" 201 (JSON r#"{"title":"Print the tiles"}"#
        single "/accord/v1/projects/atlas/tasks?actor=human:lead");
    "adopt_task" 409
        (POST double "/accord/v1/projects/atlas/tasks/$TASK_ID/adopt?actor=human:lead");
    "undelete_task" 200
        (POST double "/accord/v1/projects/atlas/tasks/$TASK_ID/undelete?actor=human:lead");
    "adopt_task_settings" 409
        (POST single "/accord/v1/projects/atlas/tasks/adopt-settings?actor=human:lead");
    "adopt_task_writer" 409 (JSON r#"{"writer":"kq3mbx7p"}"#
        single "/accord/v1/projects/atlas/tasks/adopt-writer?actor=human:lead");
    "cancel_task" 200 (JSON r#"{"reason":"Paper is not needed"}"#
        double "/accord/v1/projects/atlas/tasks/$TASK_ID/cancel?actor=human:lead");
    "merge_tasks" 200 (POST "/accord/v1/projects/atlas/tasks/merge?actor=human:lead");
    "poll_tasks" 200 (POST "/accord/v1/projects/atlas/tasks/poll");
    "lint_tasks" 200 (GET "/accord/v1/projects/atlas/tasks/lint");
    "task_events" 200 (GET single "/accord/v1/projects/atlas/tasks/events?after=10&limit=5");
    "ggui_handshake" 200
        (r#"curl --json '{
  "intent": "Approve the map of Lisbon",
  "blueprintDraft": {"contract": {
    "propsSpec": {"properties": {"map": {"schema": {"type": "string"}, "required": true}}},
    "actionSpec": {"approve": {"label": "Approve"}},
    "streamSpec": {"progress": {"schema": {"type": "integer"}, "replay": "latest"}}
  }}
}' 'http://127.0.0.1:7171/accord/v1/live/tools/ggui_handshake?project_id=atlas'"#);
    "ggui_render" 200
        (r#"curl --json '{
  "handshakeId": "'"$HANDSHAKE_ID"'", "props": {"map": "lisbon.png"},
  "x-componentCode": "export default () => null"
}' "#
        "'http://127.0.0.1:7171/accord/v1/live/tools/ggui_render?actor=builder'");
    "ggui_list_sessions" 200 (JSON r#"{"limit":10}"#
        single "/accord/v1/live/tools/ggui_list_sessions?project_id=atlas");
    "ggui_get_session" 200 (JSON r#"{"sessionId":"'"$LIVE_SESSION_ID"'"}"#
        "/accord/v1/live/tools/ggui_get_session");
    "ggui_get_render_source" 200 (JSON r#"{"sessionId":"'"$LIVE_SESSION_ID"'"}"#
        "/accord/v1/live/tools/ggui_get_render_source");
    "ggui_resource" 200
        (GET double "/accord/v1/live/resource?uri=ui://ggui/render/$LIVE_SESSION_ID");
    "ggui_update" 200
        (r#"curl --json '{"sessionId":"'"$LIVE_SESSION_ID"'","kind":"merge","#
        r#""patch":{"map":"lisbon-2.png"}}' "#
        "http://127.0.0.1:7171/accord/v1/live/tools/ggui_update");
    "ggui_amend" 200
        (r#"curl --json '{"sessionId":"'"$LIVE_SESSION_ID"'","kind":"replace","#
        r#""props":{"map":"lisbon-3.png"}}' "#
        "http://127.0.0.1:7171/accord/v1/live/tools/ggui_amend");
    "ggui_emit" 200
        (r#"curl --json '{"sessionId":"'"$LIVE_SESSION_ID"'","channel":"progress","payload":70}' "#
        "http://127.0.0.1:7171/accord/v1/live/tools/ggui_emit");
    "ggui_runtime_submit_action" 200
        (r#"curl --json '{
  "kind": "dispatch", "payload": {"intent": "approve", "actionData": null, "uiContext": {}},
  "sessionId": "'"$LIVE_SESSION_ID"'", "appId": "atlas",
  "actionId": "a1", "firedAt": "2026-11-15T10:00:00Z"
}' http://127.0.0.1:7171/accord/v1/live/tools/ggui_runtime_submit_action"#);
    "ggui_consume" 200 (JSON r#"{"sessionId":"'"$LIVE_SESSION_ID"'","timeout":5}"#
        "/accord/v1/live/tools/ggui_consume");
    "ggui_runtime_sync_context" 200
        (r#"curl --json '{"sessionId":"'"$LIVE_SESSION_ID"'","appId":"atlas","snapshot":{}}' "#
        "http://127.0.0.1:7171/accord/v1/live/tools/ggui_runtime_sync_context");
    "ggui_runtime_pull" 200 (JSON r#"{"sessionId":"'"$LIVE_SESSION_ID"'","sinceSequence":0}"#
        "/accord/v1/live/tools/ggui_runtime_pull");
    "ggui_runtime_refresh_ws_token" 200 (JSON r#"{"envelope":"an.old-token"}"#
        "/accord/v1/live/tools/ggui_runtime_refresh_ws_token");
    "ggui_runtime_telemetry" 200 (JSON r#"{"events":[{"name":"mounted"}]}"#
        "/accord/v1/live/tools/ggui_runtime_telemetry");
    "ggui_runtime_declare_tool_catalog" 200
        (JSON r#"{"toolCatalog":{"save_map":{"name":"maps","version":"2.1"}}}"#
        "/accord/v1/live/tools/ggui_runtime_declare_tool_catalog?project_id=atlas");
    "accord_runtime_page" 200 (JSON r#"{"sessionId":"'"$LIVE_SESSION_ID"'"}"#
        "/accord/v1/live/tools/accord_runtime_page");
    "ggui_list_gadgets" 200 (JSON "{}" "/accord/v1/live/tools/ggui_list_gadgets");
    "ggui_list_themes" 200 (JSON "{}" "/accord/v1/live/tools/ggui_list_themes");
    "ggui_search_blueprints" 200 (JSON r#"{"query":"approve map"}"#
        single "/accord/v1/live/tools/ggui_search_blueprints?project_id=atlas");
    "ggui_list_featured_blueprints" 200 (JSON "{}"
        single "/accord/v1/live/tools/ggui_list_featured_blueprints?project_id=atlas");
    "ggui_render_blueprint" 200
        (r#"curl --json '{"blueprintId":"'"$BLUEPRINT_ID"'","props":{"map":"porto.png"}}' "#
        "'http://127.0.0.1:7171/accord/v1/live/tools/ggui_render_blueprint?project_id=atlas'");
    "live_sessions" 200 (GET single "/accord/v1/projects/atlas/live/sessions?limit=20");
    "ask_person" 200
        (r#"curl --json '{"question":"Deploy 3.0?","options":["yes","no"],"wait_seconds":0}' "#
        "'http://127.0.0.1:7171/accord/v1/projects/atlas/live/asks?actor=agent:builder'");
    "live_asks" 200 (GET "/accord/v1/projects/atlas/live/asks");
    "live_answers" 200 (GET "/accord/v1/projects/atlas/live/answers");
    "live_session" 404 (GET "/accord/v1/projects/atlas/live/sessions/live_1a2b");
    "live_session_events" 404
        ("curl 'http://127.0.0.1:7171/accord/v1/projects/atlas/live/sessions/live_1a2b/events"
        "?since=2&wait_seconds=20'");
    "answer_live_session" 404 (JSON r#"{"action":"approve","data":{"version":3}}"#
        single "/accord/v1/projects/atlas/live/sessions/live_1a2b/actions?actor=human:lead");
    "watch_live_session" 404
        ("curl --no-buffer 'http://127.0.0.1:7171/accord/v1/projects/atlas/live/sessions/"
        "live_1a2b/frames?since=0&from_seq=0'");
    "create_project" 201 (JSON r#"{"project_id":"trial","x-conformance":true}"# "/v1/projects");
    "remove_project" 200 (DELETE "/accord/v1/projects/trial");
    "decisions" 200 (GET single "/accord/v1/projects/atlas/decisions?actor=human:lead&limit=20");
    "take_over_decisions" 200
        (r#"curl --unix-socket .accord/accord.sock --json '{"source":"run_0a1b","decisions":[]}' "#
        "http://localhost/accord/v1/projects/atlas/decisions");
    "join_edge" 200 (PUT r#"{"name":"atlas on a laptop","source":"runs","send":"summary"}"#
        "/accord/v1/projects/atlas/edges/edge_0a1b");
    "edges" 200 (GET "/accord/v1/projects/atlas/edges");
    "send_outbox" 200
        (r#"curl --json '{"entries":[{"seq":1,"kind":"request","id":"run_0a1b/release/turn_1","#
        r#""type":"run.gate","at":"2026-11-15T08:00:00Z","body":{"version":"9c41e0"}}]}' "#
        "http://127.0.0.1:7171/accord/v1/projects/atlas/edges/edge_0a1b/outbox");
    "edge" 200 (GET "/accord/v1/projects/atlas/edges/edge_0a1b");
    "edge_item" 200 (GET
        "/accord/v1/projects/atlas/edges/edge_0a1b/items/run_0a1b%2Frelease%2Fturn_1");
    "edge_decisions" 200 (GET "/accord/v1/projects/atlas/edges/edge_0a1b/decisions");
    "decide_edge_item" 404
        (r#"curl --json '{"item":"none","verb":"approve","evidence":"#
        r#""9c41e09c41e09c41e09c41e09c41e09c"}' "#
        "'http://127.0.0.1:7171/accord/v1/projects/atlas/edges/edge_0a1b/decisions"
        "?actor=human:lead'");
    "withdraw_edge_decision" 404 (DELETE single
        "/accord/v1/projects/atlas/edges/edge_0a1b/decisions/dec_0a1b?actor=human:lead");
    "joined_runs" 200 (GET "/accord/v1/projects/atlas/runs");
    "joined_run" 200 (GET "/accord/v1/projects/atlas/runs/edge_0a1b");
    "joined_run_history" 200 (GET single
        "/accord/v1/projects/atlas/runs/edge_0a1b/history?last=20");
    "joined_run_prompt" 409 (GET single
        "/accord/v1/projects/atlas/runs/edge_0a1b/prompt?turn=turn_0a1b");
    "joined_run_output" 409 (GET single
        "/accord/v1/projects/atlas/runs/edge_0a1b/output?turn=turn_0a1b&from=0");
    "joined_run_wait" 200
        (GET single "/accord/v1/projects/atlas/runs/edge_0a1b/wait?since=1-joined&wait_seconds=0");
    "stage_run_result" 409 (JSON r#"{"summary":"the plan is in docs/plan.md"}"#
        "/accord/v1/projects/atlas/runs/edge_0a1b/result");
    "leave_edge" 200 (DELETE single "/accord/v1/projects/atlas/edges/edge_0a1b?erase=true");
    "task_trees" 200 (GET "/accord/v1/task-trees");
    "link_task_tree" 404 (PUT r#"{"folder":"/home/dev/atlas/.aof"}"#
        "/accord/v1/projects/atlas/task-tree");
    "unlink_task_tree" 200 (DELETE "/accord/v1/projects/atlas/task-tree");
    "verify" 200 (JSON r#"{"project_id":"atlas"}"# "/accord/v1/verify");
    "status" 200 (GET "/accord/v1/status");
    "trim" 200 (JSON r#"{"days":90,"dry_run":true}"# "/accord/v1/store/trim");
    "sweep" 200 (JSON r#"{"days":90,"dry_run":true}"# "/accord/v1/store/sweep");
    "backup" 200
        (r#"curl --unix-socket .accord/accord.sock --json '{"to":"/backups/monday"}' "#
        "http://localhost/accord/v1/store/backup");
    "live_shell" 200 (GET "/live/live_0a1b");
    "asset" 404 (GET "/assets/0123456789abcdef/page.css");
    "live_link" 404 (POST "/accord/v1/live/live_0a1b/link");
    "login" 401
        (r#"curl -H 'Origin: http://127.0.0.1:7171' --json '{"link":"0123"}' "#
        "http://127.0.0.1:7171/accord/v1/login");
    "live_page" 401 (GET "/accord/v1/live/live_0a1b/page");
    "live_token" 401
        ("curl -H 'Origin: http://127.0.0.1:7171' --json '{}' "
        "http://127.0.0.1:7171/accord/v1/live/live_0a1b/token");
    "live_act" 401
        (r#"curl -H 'Origin: http://127.0.0.1:7171' --json '{"action":"approve"}' "#
        "http://127.0.0.1:7171/accord/v1/live/live_0a1b/actions");
    "logout" 401
        ("curl -H 'Origin: http://127.0.0.1:7171' --json '{}' "
        "http://127.0.0.1:7171/accord/v1/logout");
    "openapi" 200 (GET "/openapi.json");
    "docs" 200 (GET "/docs");
    "metrics" 200 (GET "/metrics");
    "add_person" 201 (JSON r#"{"name":"lead","email":"lead@example.org"}"# "/accord/v1/people");
    "people" 200 (GET "/accord/v1/people");
    "change_person" 200 (PATCH r#"{"email":"lead@example.com"}"# "/accord/v1/people/lead");
    "person_link" 404 (JSON r#"{"item":"3f9a2c"}"# "/accord/v1/people/lead/link");
    "renew_link" 409
        (r#"curl -H 'Origin: http://127.0.0.1:7171' --json '{"link":"0123"}' "#
        "http://127.0.0.1:7171/accord/v1/links/renew");
    "remove_person" 200 (DELETE "/accord/v1/people/lead");
    "create_key" 201 (JSON r#"{"label":"builder","verbs":["admin"]}"# "/accord/v1/keys");
    "me" 200 ("curl -H \"Authorization: Bearer $ACCORD_KEY\" http://127.0.0.1:7171/accord/v1/me");
    "keys" 200
        ("curl -H \"Authorization: Bearer $ACCORD_KEY\" http://127.0.0.1:7171/accord/v1/keys");
    "revoke_key" 200
        ("curl -X DELETE -H \"Authorization: Bearer $ACCORD_KEY\" "
        "http://127.0.0.1:7171/accord/v1/keys/$KEY_ID");
}

//! Hooks in settings, and what the hook reads and prints.

use accord_wiring::hook::{Caller, MOST_CHARACTERS, Start, answer, heading, shortened};
use accord_wiring::{Choices, Tool};
use serde_json::{Value, json};

use crate::desk::{Desk, choices};

const GROUPS: &str = r#"{
  "hooks": {
    "SessionStart": [
      {"matcher": "startup", "hooks": [{"type": "command", "command": "theirs"}]}
    ],
    "Stop": []
  }
}
"#;

#[test]
fn a_hook_is_one_plain_string_with_the_time_limit_of_its_client() {
    for (tool, path, timeout) in [
        (Tool::Claude, ".claude/settings.json", 5),
        (Tool::Codex, ".codex/hooks.json", 5),
        (Tool::Gemini, ".gemini/settings.json", 5000),
    ] {
        let mut desk = Desk::default();
        desk.wire(&choices(tool));
        let groups = desk.json(path)["hooks"]["SessionStart"].clone();
        let handler = &groups[0]["hooks"][0];
        assert_eq!(handler["command"], "accord hook --project shop", "{groups}");
        assert_eq!((&handler["type"], &handler["timeout"]), (&json!("command"), &json!(timeout)));
    }
    // A project that would need quotes is left to the hook to find.
    let mut desk = Desk::default();
    desk.wire(&Choices { project: Some("my 'shop'".to_owned()), ..choices(Tool::Claude) });
    let text = desk.text(".claude/settings.json");
    assert!(text.contains("\"accord hook\""), "{text}");
}

#[test]
fn hooks_of_others_stay_also_when_ours_goes() {
    for (tool, path) in
        [(Tool::Claude, ".claude/settings.json"), (Tool::Codex, ".codex/hooks.json")]
    {
        let mut desk = Desk::with(&[(path, GROUPS)]);
        desk.wire(&choices(tool));
        let before: Value = serde_json::from_str(GROUPS).expect("JSON");
        let hooks = desk.json(path)["hooks"].clone();
        assert_eq!(hooks["SessionStart"][0], before["hooks"]["SessionStart"][0]);
        assert_eq!(hooks["Stop"], json!([]));
        assert_eq!(hooks["SessionStart"].as_array().expect("a list").len(), 2);
        // Somebody adds to our group.
        let text = desk.text(path).replace("\"Stop\": []", "\"Stop\": [{}]");
        desk.put(path, &text);
        desk.remove(&choices(tool));
        let after = desk.json(path);
        assert_eq!(after["hooks"]["SessionStart"], before["hooks"]["SessionStart"]);
        assert_eq!(after["hooks"]["Stop"], json!([{}]));
    }
}

#[test]
fn a_group_that_others_use_too_is_not_removed() {
    let path = ".claude/settings.json";
    let mut desk = Desk::default();
    desk.wire(&choices(Tool::Claude));
    let mut document = desk.json(path);
    let handlers = document["hooks"]["SessionStart"][0]["hooks"].as_array_mut().expect("a list");
    handlers.push(json!({"type": "command", "command": "theirs"}));
    desk.put(path, &document.to_string());
    desk.remove(&choices(Tool::Claude));
    let left = desk.json(path);
    let theirs = json!([{"hooks": [{"type": "command", "command": "theirs"}]}]);
    assert_eq!(left, json!({"hooks": {"SessionStart": theirs}}));
}

#[test]
fn hooks_in_the_configuration_of_codex_are_not_doubled() {
    let path = ".codex/config.toml";
    let mut desk = Desk::with(&[(path, "[[hooks.Stop]]\nhooks = []\n")]);
    let plan = desk.wire(&choices(Tool::Codex));
    assert!(plan.notes[0].contains("config.toml of Codex has hooks"), "{plan:?}");
    assert!(!desk.paths().iter().any(|path| path.ends_with("hooks.json")));
}

#[test]
fn the_caller_is_known_by_its_event() {
    for (caller, event) in [
        (
            Caller::Claude,
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w",
                "hook_event_name": "SessionStart", "source": "startup"}),
        ),
        (
            Caller::Codex,
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w", "model": "m",
                "hook_event_name": "SessionStart", "source": "startup",
                "permission_mode": "default"}),
        ),
        (
            Caller::Copilot,
            json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "source": "new",
                "initialPrompt": "x"}),
        ),
        (
            Caller::Copilot,
            json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w",
                "timestamp": "2026-11-15T00:00:00Z", "source": "new"}),
        ),
        (
            Caller::Gemini,
            json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w",
                "timestamp": "2026-11-15T00:00:00Z", "transcript_path": "/t",
                "source": "startup"}),
        ),
        (
            Caller::Cursor,
            json!({"hook_event_name": "sessionStart", "conversation_id": "c", "cwd": "/w"}),
        ),
    ] {
        let start = Start { caller, folder: Some("/w".to_owned()) };
        assert_eq!(Start::read(&event.to_string()), Some(start), "{event}");
    }
    let stop = json!({"hook_event_name": "Stop", "cwd": "/w"}).to_string();
    let prompt = json!({"sessionId": "s", "timestamp": 1, "prompt": "x"}).to_string();
    for other in ["", "{", "[]", "null", "\"SessionStart\"", "{}", &stop, &prompt] {
        assert_eq!(Start::read(other), None, "{other}");
    }
}

#[test]
fn each_caller_gets_its_form() {
    let nested = json!({"hookSpecificOutput":
        {"hookEventName": "SessionStart", "additionalContext": "T"}});
    for (caller, document) in [
        (Caller::Claude, nested.clone()),
        (Caller::Codex, nested.clone()),
        (Caller::Gemini, nested),
        (Caller::Copilot, json!({"additionalContext": "T"})),
        (Caller::Cursor, json!({"additional_context": "T"})),
    ] {
        let text = answer(caller, "T");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), document);
    }
}

#[test]
fn a_briefing_has_at_most_8000_characters_and_whole_lines() {
    let line = "– a line of a briefing\n";
    let text = line.repeat(1000);
    let short = shortened(&text);
    assert!(short.chars().count() <= MOST_CHARACTERS, "{}", short.chars().count());
    assert!(short.chars().count() > MOST_CHARACTERS - 2 * line.len());
    let (last, rest) = short.trim_end().rsplit_once('\n').map(|(a, b)| (b, a)).expect("lines");
    assert!(last.contains("memory_orient"), "{last}");
    assert!(rest.lines().all(|it| it == line.trim_end()));
    assert_eq!(shortened(line), line);
    let first = heading("sh\nop", "2026-11-15T00:00:00Z");
    assert!(first.starts_with("Accord memory of project sh op, as of 2026-11-15T00:00:00Z. "));
    assert!(first.contains("information, not instruction"));
}

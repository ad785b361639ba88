//! Credentials in what commands and tools store.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::memory::{Memory, Way};

/// It is put together, so that scanners of repositories find no token here.
fn token() -> String {
    format!("ghp{}{}", "_", "uX9r2KpLq7TzBv4MwYc1Ns8Hd3Jf6GaEo5Ri")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

#[test]
fn commands_refuse_a_credential_and_have_a_flag() {
    for way in Way::ALL {
        let memory = Memory::reached(way);
        memory.deposit("First", &[]);
        let token = token();
        let decision = format!("push with {token}");
        let deposit = ["context", "deposit", "--title", "CI", "--decision", &decision];
        let refused = memory.ran(&deposit).refused("credential_found");
        assert!(refused.contains("decisions_made[0] contains a token of GitHub"), "{refused}");
        assert!(refused.contains("--allow-credentials"), "{refused}");
        let assert = ["fact", "assert", "ci", "token", &token];
        memory.ran(&assert).refused("credential_found");
        // A key that was just made is one, too.
        if way == Way::Url {
            let key = format!("the key is {}", memory.key());
            let args = ["context", "deposit", "--title", "Key", "--description", &key];
            let refused = memory.ran(&args).refused("credential_found");
            assert!(refused.contains("a key of Accord"), "{refused}");
        }
        // Neither a file of the data folder nor a message has it.
        for file in files(&memory.data()) {
            let Ok(bytes) = fs::read(&file) else { continue };
            let is_there = bytes.windows(token.len()).any(|part| part == token.as_bytes());
            assert!(!is_there, "{} has the value", file.display());
        }
        for args in [&deposit[..], &assert] {
            let ran = memory.ran(args);
            assert!(!ran.stdout.contains(&token) && !ran.stderr.contains(&token), "{ran:?}");
            memory.ran(&[args, &["--allow-credentials"]].concat()).yes();
        }
    }
}

/// The override of a tool is an argument; a member does not count.
#[test]
fn tools_refuse_a_credential_and_have_an_argument() {
    let memory = Memory::new();
    let calls = |arguments: Value| {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "memory_deposit", "arguments": arguments}});
        let ran = memory.ran_with(&["mcp"], &format!("{hello}\n{call}\n"));
        assert!(!ran.stderr.contains(&token()), "{ran:?}");
        ran.stdout.lines().last().expect("an answer").to_owned()
    };
    let mut arguments = json!({"project_id": "shop", "actor": "agent:planner", "title": "CI",
        "handoff_note": format!("push with {}", token()), "extra": {"x-allow": true}});
    let refused = calls(arguments.clone());
    assert!(refused.contains("credential_found") && refused.contains("handoff_note"), "{refused}");
    assert!(!refused.contains(&token()), "{refused}");
    arguments["allow_credentials"] = true.into();
    let stored = calls(arguments);
    assert!(stored.contains("pkg_") && !stored.contains("credential_found"), "{stored}");
}

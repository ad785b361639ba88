//! Protected files are put back as they were.

use std::fs;
use std::os::unix::fs::symlink;

use super::support::{assign, begun, files, lock};

#[test]
fn whatever_a_hook_does_to_protected_files_is_undone_and_named() {
    type Attack = fn(&std::path::Path);
    let state = ".agentxchain/state.json";
    let ledger = ".agentxchain/decision-ledger.jsonl";
    let bundle = ".agentxchain/dispatch/turns/t/PROMPT.md";
    let attacks: [(Attack, &[&str]); 8] = [
        (
            |root| {
                let state = fs::File::create(root.join(".agentxchain/state.json")).unwrap();
                state.set_len(1 << 40).unwrap();
            },
            &[state],
        ),
        (|_| {}, &[]),
        (|root| fs::write(root.join(".agentxchain/state.json"), "{}").unwrap(), &[state]),
        (|root| fs::remove_file(root.join(".agentxchain/state.json")).unwrap(), &[state]),
        (
            |root| fs::write(root.join(".agentxchain/decision-ledger.jsonl"), "x").unwrap(),
            &[ledger],
        ),
        (
            |root| {
                fs::remove_file(root.join(".agentxchain/state.json")).unwrap();
                symlink("/etc/passwd", root.join(".agentxchain/state.json")).unwrap();
            },
            &[state],
        ),
        (
            |root| {
                fs::remove_file(root.join(".agentxchain/state.json")).unwrap();
                fs::create_dir(root.join(".agentxchain/state.json")).unwrap();
                fs::write(root.join(".agentxchain/state.json/x"), "x").unwrap();
                fs::create_dir(root.join(".agentxchain/decision-ledger.jsonl")).unwrap();
            },
            &[state, ledger],
        ),
        (|root| fs::remove_dir_all(root.join(".agentxchain/dispatch")).unwrap(), &[bundle]),
    ];
    for (place, (attack, named)) in attacks.into_iter().enumerate() {
        let (folder, repository) = begun();
        let held = lock(&repository);
        assign(&held, 2).unwrap();
        fs::create_dir_all(folder.path().join(".agentxchain/dispatch/turns/t")).unwrap();
        fs::write(folder.path().join(bundle), "Build it.").unwrap();
        let before = files(folder.path());
        let protected = held.protect(&[bundle.to_owned()]).unwrap();
        attack(folder.path());
        assert_eq!(held.restore(&protected).unwrap(), named, "attack {place}");
        assert_eq!(files(folder.path()), before, "attack {place}");
    }
}

#[test]
fn every_record_that_context_is_made_from_is_put_back() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    for name in ["repo-decisions.jsonl", "events.jsonl", "run-history.jsonl", "hook-audit.jsonl"] {
        let path = format!(".agentxchain/{name}");
        for there in [false, true] {
            let file = folder.path().join(&path);
            if there {
                fs::write(&file, "{}\n").unwrap();
            } else {
                let _ = fs::remove_file(&file);
            }
            let before = files(folder.path());
            let protected = held.protect(&[]).unwrap();
            fs::write(&file, "{\"forged\":true}\n").unwrap();
            assert_eq!(held.restore(&protected).unwrap(), [path.as_str()]);
            assert_eq!(files(folder.path()), before, "{name}");
        }
    }
}

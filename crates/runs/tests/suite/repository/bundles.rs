//! What a worker is given, and what it gave back.

use std::fs;
use std::os::unix::fs::symlink;

use accord_contract::Code;
use accord_runs_core::TurnId;
use accord_runs_core::manifest::Bundle;

use super::support::{begun, lock, now};

fn bundle(names: &[&str]) -> Bundle {
    let files = names.iter();
    files.map(|name| ((*name).to_owned(), name.as_bytes().to_vec())).collect()
}

#[test]
fn a_bundle_is_everything_in_its_folder() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    let turn = TurnId::parse("turn_1").unwrap();
    assert_eq!(held.bundle(&turn).unwrap(), Bundle::new());
    held.write_bundle(&turn, &bundle(&["A", "B"])).unwrap();
    held.add_to_bundle(&turn, "C", b"C").unwrap();
    let place = folder.path().join(".agentxchain/dispatch/turns/turn_1");
    fs::create_dir(place.join("below")).unwrap();
    fs::write(place.join("below/D"), "D").unwrap();
    symlink("/etc/passwd", place.join("link")).unwrap();
    fs::create_dir_all(place.join("below/empty")).unwrap();
    symlink("below", place.join("below/again")).unwrap();
    let mut all = bundle(&["A", "B", "C"]);
    all.insert("below/D".to_owned(), b"D".to_vec());
    let others = ["below/again", "link"].map(str::to_owned);
    assert_eq!(held.bundle(&turn).unwrap(), all);
    assert_eq!(repository.bundle_and_others(&turn).unwrap(), (all, others.to_vec()));
    held.write_bundle(&turn, &bundle(&["E"])).unwrap();
    assert_eq!(held.bundle(&turn).unwrap(), bundle(&["E"]));
    assert!(!place.join("below").exists());
}

#[test]
fn a_name_in_a_bundle_is_one_name() {
    let (_folder, repository) = begun();
    let held = lock(&repository);
    let turn = TurnId::parse("turn_1").unwrap();
    held.write_bundle(&turn, &bundle(&["A"])).unwrap();
    for odd in ["", "..", ".", "a/b", "../x", "/x", "a\\b", " a", "a\0"] {
        let refused = held.add_to_bundle(&turn, odd, b"x").err().unwrap();
        assert_eq!(refused.code(), Code::XchainPathOutsideRepository, "{odd:?}");
        assert!(held.write_bundle(&turn, &bundle(&["B", odd])).is_err());
    }
    assert_eq!(held.bundle(&turn).unwrap(), bundle(&["A"]));
}

#[test]
fn results_lie_where_other_runners_look_for_them() {
    let (_folder, repository) = begun();
    let held = lock(&repository);
    let turn = TurnId::parse("turn_1").unwrap();
    let staged = held.stage(&turn, b"{}").unwrap();
    assert_eq!(staged.as_str(), ".agentxchain/staging/turn_1/turn-result.json");
    let kept = held.keep_rejected(&turn, 2, now(), b"{}").unwrap();
    let name = ".agentxchain/dispatch/rejected/turn_1-attempt-2-2026-04-20T10-00-00-000Z.json";
    assert_eq!(kept.as_str(), name);
    let paths = ["nothing".to_owned(), staged.to_string(), kept.to_string()];
    assert_eq!(held.staged(&paths).unwrap(), Some((staged.to_string(), b"{}".to_vec())));
}

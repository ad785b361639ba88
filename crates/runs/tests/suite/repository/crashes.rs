//! Wherever a machine goes down: what was acknowledged is there, and nothing is half there.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_runs::repository::Repository;
use accord_trees::testing::{Crash, SimDisk};

use super::support::{STEPS, govern, lock, meaningful, simulated, step};

type Files = BTreeMap<String, Vec<u8>>;

/// A governed repository in which nothing has happened, all of it synced.
fn fresh() -> (Arc<SimDisk>, Repository) {
    let (disk, repository) = simulated();
    govern(&lock(&repository));
    (disk, repository)
}

/// What the disk looks like before the first step and after each.
fn without_a_crash() -> (Vec<Files>, u64) {
    let (disk, repository) = fresh();
    let began = disk.operations();
    let mut seen = vec![meaningful(disk.files())];
    let held = lock(&repository);
    for number in 0..STEPS {
        step(number, &held).unwrap();
        seen.push(meaningful(disk.files()));
    }
    drop(held);
    (seen, disk.operations() - began)
}

/// Runs the steps until the disk is down, and says how many were acknowledged.
fn until_down(disk: &SimDisk, repository: &Repository, operations: u64) -> usize {
    disk.stop_after(operations);
    let Ok(held) = repository.lock(std::time::Duration::ZERO) else {
        return 0;
    };
    (0..STEPS).take_while(|number| step(*number, &held).is_ok()).count()
}

/// The disk after a crash and whatever the next holder of the lock mends.
fn mended(disk: &Arc<SimDisk>) -> Files {
    let repository = Repository::on(disk.clone());
    drop(lock(&repository));
    meaningful(disk.files())
}

fn check(seen: &[Files], acknowledged: usize, files: &Files, about: &str) {
    let after = seen.iter().position(|known| known == files);
    let sound = after.is_some_and(|after| after == acknowledged || after == acknowledged + 1);
    if sound {
        return;
    }
    let known = &seen[acknowledged];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (path, bytes) in files {
        if known.get(path) != Some(bytes) {
            println!("{path}: {}", text(bytes));
        }
    }
    for path in known.keys().filter(|path| !files.contains_key(*path)) {
        println!("{path}: gone");
    }
    panic!("{about}: {acknowledged} steps were acknowledged, found {after:?}");
}

fn crashes(seeds: u64) -> impl Iterator<Item = Crash> {
    std::iter::once(Crash::Process).chain((0..seeds).map(Crash::Power))
}

#[test]
fn every_crash_leaves_before_or_after() {
    let (seen, operations) = without_a_crash();
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "every step writes");
    assert!(operations > 60, "{operations} operations are too few to mean anything");
    for cut in 0..operations {
        let (disk, repository) = fresh();
        let acknowledged = until_down(&disk, &repository, cut);
        for crash in crashes(4) {
            let survivor = Arc::new(disk.after(crash));
            let files = mended(&survivor);
            check(&seen, acknowledged, &files, &format!("cut {cut}, {crash:?}"));
            // A second look changes nothing.
            assert_eq!(mended(&survivor), files);
        }
    }
}

#[test]
fn a_crash_while_another_is_mended_leaves_before_or_after() {
    let (seen, operations) = without_a_crash();
    for cut in (0..operations).step_by(5) {
        let (disk, repository) = fresh();
        let acknowledged = until_down(&disk, &repository, cut);
        for crash in [Crash::Process, Crash::Power(cut)] {
            for second in 0..40 {
                let survivor = Arc::new(disk.after(crash));
                survivor.stop_after(second);
                let whole =
                    Repository::on(survivor.clone()).lock(std::time::Duration::ZERO).is_ok();
                let survivor = Arc::new(survivor.after(Crash::Power(second + 7 * cut)));
                let files = mended(&survivor);
                let about = format!("cut {cut}, {crash:?}, then {second}");
                check(&seen, acknowledged, &files, &about);
                if whole {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_run_goes_on_after_any_crash_as_if_nothing_had_been() {
    let (seen, operations) = without_a_crash();
    for cut in (0..operations).step_by(2) {
        let (disk, repository) = fresh();
        let acknowledged = until_down(&disk, &repository, cut);
        let survivor = Arc::new(disk.after(Crash::Power(cut)));
        let files = mended(&survivor);
        let after = seen.iter().position(|known| *known == files).unwrap();
        assert!(after >= acknowledged);
        let held = lock(&Repository::on(survivor.clone()));
        for number in after..STEPS {
            step(number, &held).unwrap();
        }
        drop(held);
        assert_eq!(meaningful(survivor.files()), seen[STEPS], "cut {cut}");
    }
}

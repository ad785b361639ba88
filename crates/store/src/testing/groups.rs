//! Jobs that share a commit.

use std::sync::mpsc;

use super::script::Script;
use super::{COMMON, Generator, contents, queries};
use crate::{ModelStore, Result, Store, StoreErrorKind, StoreExt as _};

/// Queues random units of work behind a blocked job, so that they share a commit, and compares
/// their results and effects with those of the model, which runs them one by one. Some roll back
/// after they wrote. The engine must be new, must have been opened with [`COMMON`] and must run its
/// jobs on a separate thread. Panics when they differ.
pub fn compare_groups(engine: &dyn Store, seed: u64, groups: usize) {
    let model = ModelStore::with_common(COMMON);
    let mut generator = Generator::new(seed);
    for group in 0..groups {
        let size = 2 + generator.random.below(7);
        let scripts: Vec<Script> = (0..size).map(|_| Script::random(&mut generator)).collect();
        let expected: Vec<_> = scripts.iter().map(|script| script.run(&model)).collect();
        let (answers, answered) = mpsc::channel();
        let release = hold(engine);
        for (place, script) in scripts.iter().enumerate() {
            let answers = answers.clone();
            script.enqueue(engine, move |said| drop(answers.send((place, said))));
        }
        release.send(()).expect("the job that waits");
        drop(answers);
        let mut found: Vec<_> = answered.iter().collect();
        found.sort_by_key(|(place, _)| *place);
        let found: Vec<_> = found.into_iter().map(|(_, said)| said).collect();
        assert_eq!(found, expected, "seed {seed}, group {group}: {scripts:?}");
        assert_eq!(
            contents::everything(engine),
            contents::everything(&model),
            "seed {seed}, group {group}: {scripts:?}"
        );
        for query in queries::random_queries(&mut generator, 12) {
            let expected = model.read(|unit| query.at(unit));
            let found = engine.read(|unit| query.at(unit));
            assert_eq!(found, expected, "{query:?}\nseed {seed}, group {group}: {scripts:?}");
        }
    }
}

/// Blocks the thread that commits until the returned sender is used.
fn hold(engine: &dyn Store) -> mpsc::Sender<()> {
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let mut held = false;
    engine.enqueue(
        move |_| {
            // When the group is run again, it does not block again.
            if std::mem::replace(&mut held, true) {
                return Ok(());
            }
            began.send(()).expect("the test waits for the start");
            released.recv().map_err(|_| StoreErrorKind::Broken.into())
        },
        |_: Result<()>| {},
    );
    begun.recv().expect("the job begins");
    release
}

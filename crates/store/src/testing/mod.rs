//! The tests that every engine must pass. An engine and the model run the same random units of
//! work. After each unit everything that can be read is compared. The same seed gives the same run;
//! a failure message has the seed.

mod concurrency;
mod contents;
mod generator;
mod groups;
mod inbox;
mod live;
mod queries;
mod random;
mod script;

pub use concurrency::many_writers;
pub use generator::Generator;
pub use groups::compare_groups;
pub use random::Random;

use crate::{CommonTermLimits, ModelStore, Store, StoreExt as _};

/// Low limits, so that small runs have very common terms.
pub const COMMON: CommonTermLimits =
    CommonTermLimits { least: 3, most: 12, one_in: 3, together: 20, occurrences: 12 };

/// Runs `units` random units of work on a new engine and on the model, and compares everything that
/// can be read. The engine must have been opened with [`COMMON`]. Panics when they differ.
pub fn compare(engine: &dyn Store, seed: u64, units: usize) {
    let model = ModelStore::with_common(COMMON);
    let mut generator = Generator::new(seed);
    let mut kept = 0;
    for number in 0..units {
        let script = script::Script::random(&mut generator);
        let place = || format!("seed {seed}, unit {number}: {script:?}");
        let expected = script.run(&model);
        let found = script.run(engine);
        assert_eq!(found, expected, "{}", place());
        kept += usize::from(found.is_ok());
        let queries = queries::random_queries(&mut generator, 6);
        for query in &queries {
            let expected = model.read(|unit| query.at(unit));
            let found = engine.read(|unit| query.at(unit));
            assert_eq!(found, expected, "{query:?}\n{}", place());
        }
        if number % 8 == 0 {
            let (expected, found) = (contents::everything(&model), contents::everything(engine));
            assert_eq!(found, expected, "{}", place());
        }
        if number % 40 == 0 {
            compare_inbox(engine, &model, &place());
        }
    }
    compare_inbox(engine, &model, &format!("seed {seed}"));
    assert_eq!(contents::everything(engine), contents::everything(&model), "seed {seed}");
    assert!(kept * 2 > units, "seed {seed} stores too little for a meaningful test");
}

/// The inbox of both is equal, also after that of the engine was made again.
fn compare_inbox(engine: &dyn Store, model: &ModelStore, place: &str) {
    let expected = inbox::everything(model);
    assert_eq!(inbox::everything(engine), expected, "{place}");
    engine.write(|unit| unit.rebuild_inbox()).expect("a rebuild");
    assert_eq!(inbox::everything(engine), expected, "after a rebuild, {place}");
}

/// The content of a store, as lines of text. Equal stores give equal lines.
pub fn everything(store: &dyn Store) -> Vec<String> {
    contents::everything(store)
}

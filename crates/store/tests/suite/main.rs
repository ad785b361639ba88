//! The model against the tests that every engine has to pass, and against itself.

use accord_store::ModelStore;
use accord_store::testing::{COMMON, compare, many_writers};

#[test]
fn the_model_is_the_model() {
    for seed in 0..4 {
        compare(&ModelStore::with_common(COMMON), seed, 60);
    }
}

#[test]
fn many_writers_at_once() {
    many_writers(&ModelStore::new(), 8, 20, 1);
}

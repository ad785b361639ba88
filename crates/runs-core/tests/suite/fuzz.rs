//! Fuzz target for turn results. Short and seeded here; for a long run:
//! `cargo bolero test -p accord-runs-core fuzz::turn_results`.

use accord_contract::testing::mutate;
use accord_runs_core::result::read_staged;

use crate::results::judged_as_read;
use crate::support::{assign, config, result, world};

/// Whatever a worker stages is judged without a panic, and an invalid result has a problem.
#[test]
fn turn_results() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 2);
    let valid = result(&world, &turn);
    bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
        let mutated = mutate(&valid, input).to_string();
        for staged in [input, mutated.as_bytes()] {
            for strict in [false, true] {
                let judged = judged_as_read(&world, read_staged(staged), strict);
                let validation = judged.validation;
                assert_eq!(
                    validation.failed_stage.is_some(),
                    !validation.problems.is_empty(),
                    "{mutated}"
                );
            }
        }
    });
}

//! The stages of a validation.

mod artifact;
mod assignment;
mod delegations;
mod fields;
mod protocol;
mod schema;
mod verification;

use accord_contract::Value;

use super::{Leniency, Problem, Situation, Stage, TurnResult, Validation};
use crate::rule;

/// Validates a result. The first stage that finds a problem is the last one that runs.
///
/// Clauses: AX-TR-STAGES.
pub fn validate(result: &Value, situation: &Situation<'_>, leniency: Leniency) -> Validation {
    let found = schema::check(result);
    // The later stages rely on the form, so they do not run after a schema error.
    let Some(result) = TurnResult::new(result.clone()).filter(|_| found.is_empty()) else {
        let stage = rule!(Stage::Schema; StageAfterIt => Stage::Assignment);
        return Validation::failed(stage, found);
    };
    let mut findings = Findings { strict: leniency.strict, ..Findings::default() };
    let stages = [
        (Stage::Assignment, assignment::check as Check),
        (Stage::Artifact, artifact::check),
        (Stage::Verification, verification::check),
        (Stage::Protocol, protocol::check),
    ];
    for (stage, check) in rule!(stages; StagesReversed => {
        let [first, second, third, fourth] = stages;
        [fourth, third, second, first]
    }) {
        check(&result, situation, &mut findings);
        if !findings.problems.is_empty() {
            let Findings { problems, warnings, .. } = findings;
            return Validation { failed_stage: Some(stage), problems, warnings };
        }
    }
    Validation { failed_stage: None, problems: Vec::new(), warnings: findings.warnings }
}

type Check = fn(&TurnResult, &Situation<'_>, &mut Findings);

#[derive(Default)]
struct Findings {
    strict: bool,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

impl Findings {
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }
}

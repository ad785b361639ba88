//! Whether a change of the protocol is breaking.

use accord_live_core::breaking::{Breaking, RunVerdicts, Verdict, compare};

fn run(version: &str, fixtures: &[(&str, Verdict)]) -> RunVerdicts {
    let fixtures = fixtures.iter().map(|(name, verdict)| ((*name).to_owned(), *verdict));
    RunVerdicts { version: version.into(), fixtures: fixtures.collect() }
}

#[test]
fn a_fixture_that_passed_and_fails_is_a_breaking_change() {
    use Verdict::{Fail, Pass, Skip};
    for (old, new, broken, unproven) in [
        (Some(Pass), Some(Pass), 0, 0),
        (Some(Pass), Some(Fail), 1, 0),
        (Some(Pass), Some(Skip), 0, 1),
        (Some(Pass), None, 0, 1),
        (Some(Fail), Some(Fail), 0, 0),
        (Some(Fail), Some(Pass), 0, 0),
        (Some(Skip), Some(Fail), 0, 0),
        (None, Some(Fail), 0, 0),
        (None, Some(Pass), 0, 0),
    ] {
        let of = |version, verdict: Option<Verdict>| {
            run(version, &verdict.map(|verdict| ("f", verdict)).into_iter().collect::<Vec<_>>())
        };
        let found = compare(&of("1", old), &of("2", new));
        assert_eq!(
            (found.broken.len(), found.unproven.len()),
            (broken, unproven),
            "{old:?} {new:?}"
        );
        assert_eq!(found.is_breaking(), broken > 0);
        let is_new_failure = old.is_none() && new == Some(Fail);
        assert_eq!(found.new_failures.len(), usize::from(is_new_failure));
    }
}

#[test]
fn the_fixtures_are_named_and_the_versions_compared() {
    use Verdict::{Fail, Pass};
    let old = run("draft-1", &[("b", Pass), ("a", Pass)]);
    let new = run("draft-1", &[("a", Fail), ("b", Fail), ("c", Fail)]);
    let expected = Breaking {
        broken: vec!["a".into(), "b".into()],
        unproven: Vec::new(),
        new_failures: vec!["c".into()],
        is_same_version: true,
    };
    assert_eq!(compare(&old, &new), expected);
}

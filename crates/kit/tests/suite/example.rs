//! The example programs say what they promise to say.

#[path = "../../examples/judge_in_process.rs"]
#[expect(dead_code, reason = "the example's `main` is not called here")]
mod judge_in_process;

#[path = "../../examples/judge_server.rs"]
#[expect(dead_code, reason = "the example's `main` is not called here")]
mod judge_server;

#[test]
fn a_server_that_has_nothing_reaches_no_level_and_breaks_nothing() {
    let server = crate::server::Server::start(|_| crate::server::Answer::text(404, "nothing here"));
    let mut lines = Vec::new();
    let server = accord_kit::driver::HttpOptions::new(server.url());
    let report = judge_server::judge(server, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let totals = &report.summary.totals;
    let broken = report.summary.required.fail + totals.error + totals.harness_error;
    assert_eq!(broken, 0, "{lines}");
    assert!(totals.not_implemented > 200, "{lines}");
    assert!(
        lines.contains("\nconformance  no level is reached; the server claims none\n"),
        "{lines}"
    );
    assert_eq!(report.summary.exit_code, 2, "nothing failed, and nothing was proven");
    assert!(lines.contains("\nNOT JUDGED: no required case was judged"), "{lines}");
    let reason = &report.summary.reasons[..];
    assert!(
        matches!(reason, [_, lacks] if lacks.starts_with("no level is reached: L0 is missing")),
        "{reason:?}"
    );
}

#[test]
fn the_example_passes_every_case_of_its_operation() {
    let mut lines = Vec::new();
    let report = judge_in_process::judge(&mut lines).unwrap();
    let totals = &report.summary.totals;
    assert!(totals.pass > 5, "{}", String::from_utf8_lossy(&lines));
    assert_eq!(totals.pass, report.run.selected);
    assert!(String::from_utf8(lines).unwrap().contains("\nPASS: "));
}

//! The example program says what it promises to say.

#[path = "../../examples/judge_in_process.rs"]
#[expect(dead_code, reason = "the example's `main` is not called here")]
mod judge_in_process;

#[test]
fn the_example_passes_every_case_of_its_operation() {
    let mut lines = Vec::new();
    let report = judge_in_process::judge(&mut lines).unwrap();
    let totals = &report.summary.totals;
    assert!(totals.pass > 10, "{}", String::from_utf8_lossy(&lines));
    assert_eq!(totals.pass, report.run.selected);
    assert!(String::from_utf8(lines).unwrap().contains("\nPASS ("));
}

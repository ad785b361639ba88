//! The report of a verification as lines for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{ConformanceReport, Finding, TierResult, TierStatus};
use crate::corpus::Protocol;
use crate::exit::Overall;
use crate::reporter::{Colour, Style, printable};

/// Writes the report below a title; the failures of a tier are in the order of the fixtures.
pub fn write_text(
    report: &ConformanceReport,
    fixtures: &Protocol,
    title: &str,
    colour: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = Style(colour);
    let place = report.target_root.as_ref().or(report.remote.as_ref());
    let place = place.map(String::as_str).unwrap_or_default();
    writeln!(out, "\n{title}\n{}", "─".repeat(RULE))?;
    writeln!(out, "Target: {}", printable(place))?;
    writeln!(out, "Implementation: {}", printable(&report.implementation))?;
    writeln!(out, "Tier requested: {}\n", report.tier_requested)?;
    let (word, ink) = match report.overall {
        Overall::Pass => ("PASS", Colour::Green),
        Overall::Fail => ("FAIL", Colour::Red),
        Overall::Error => ("ERROR", Colour::Magenta),
    };
    writeln!(out, "Overall: {}", style.paint(ink, word))?;
    let order = fixtures.cases().iter().enumerate();
    let order: BTreeMap<&str, usize> =
        order.map(|(place, fixture)| (fixture.id.as_str(), place)).collect();
    for (name, tier) in &report.results {
        writeln!(out, "{name}: {}", sum(tier))?;
        for gap in &tier.not_implemented {
            let mark = style.paint(Colour::Yellow, "○");
            let (id, message) = (printable(&gap.fixture_id), printable(&gap.message));
            writeln!(out, "  {mark} {id}: {message}")?;
        }
        let mut findings: Vec<&Finding> = tier.failures.iter().chain(&tier.errors).collect();
        findings.sort_by_key(|finding| order.get(finding.fixture_id.as_str()));
        for finding in findings {
            let mark = style.paint(Colour::Red, "✗");
            let (id, message) = (printable(&finding.fixture_id), printable(&finding.message));
            writeln!(out, "  {mark} {id}: {message}")?;
        }
    }
    if let Some(note) = &report.note {
        writeln!(out, "note: {}", printable(note))?;
    }
    out.flush()
}

fn sum(tier: &TierResult) -> String {
    if tier.status == TierStatus::Skipped {
        let note = tier.note.as_deref().unwrap_or_default();
        return format!("{} ({note})", tier.status);
    }
    let gaps = match tier.fixtures_not_implemented {
        0 => String::new(),
        gaps => format!(", {gaps} not implemented"),
    };
    format!("{} ({}/{} passed{gaps})", tier.status, tier.fixtures_passed, tier.fixtures_run)
}

const RULE: usize = 44;

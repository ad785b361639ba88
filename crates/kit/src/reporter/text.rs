//! The run as lines for people, the same on a terminal and in a build log: cases that need
//! attention as they finish, then the totals. A progress bar is a separate reporter.

use std::collections::BTreeMap;
use std::io::{self, Write};

use accord_contract::Wire as _;
use accord_contract::text::excerpt;

use super::text_levels;
use super::text_style::{Colour, Style};
use crate::case::Strength;
use crate::event::{Event, Reporter, What};
use crate::exit::{Judged, Overall, RunVerdict, plural};
use crate::report::{CaseReport, Difference, RunInfo, RunReport, Totals};
use crate::verdict::Verdict;

/// How lines for people are written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TextOptions {
    /// Whether to colour the verdicts.
    pub colour: bool,
    /// Whether to write a line for every case, including those that pass.
    pub every_case: bool,
    /// The command that runs one case again, with `{id}` in place of its id.
    pub rerun: Option<String>,
    /// How to remove what a run leaves on a server.
    pub removal: Option<String>,
}

impl TextOptions {
    /// Plain lines, or coloured ones.
    pub fn new(colour: bool) -> Self {
        Self { colour, ..Self::default() }
    }
}

/// Writes lines for people.
#[derive(Debug)]
pub struct TextReporter<W> {
    out: W,
    options: TextOptions,
    clauses: BTreeMap<String, String>,
}

impl<W: Write> TextReporter<W> {
    /// Writes to `out`.
    pub fn new(out: W, options: TextOptions) -> Self {
        Self { out, options, clauses: BTreeMap::new() }
    }

    fn heading(&mut self, run: &RunInfo) -> io::Result<()> {
        let filtered = match run.filtered {
            0 => String::new(),
            count => format!(", {count} filtered out"),
        };
        writeln!(
            self.out,
            "{} {}: {}{filtered}; corpus sha256:{}",
            run.protocol,
            run.protocol_version,
            plural(run.selected as usize, "case"),
            run.corpus_digest.get(..12).unwrap_or(&run.corpus_digest),
        )?;
        let mut words = vec![run.adapter.driver.to_string()];
        words.extend(run.adapter.command.iter().map(|word| quoted(word)));
        words.extend(run.adapter.url.clone());
        writeln!(self.out, "adapter: {}", words.join(" "))?;
        self.out.flush()
    }

    fn case(&mut self, result: &CaseReport) -> io::Result<()> {
        let (label, colour) = label(result);
        let worth_a_line = !matches!(result.verdict, Verdict::Pass | Verdict::Skip);
        if !worth_a_line && !self.options.every_case {
            return Ok(());
        }
        let label = self.paint(colour, &format!("{label:<15}"));
        let own_word = if result.self_reported { ", self-reported" } else { "" };
        let facts = format!("({}, {}{own_word})", result.strength, result.level);
        let facts = self.paint(Colour::Dim, &facts);
        write!(self.out, "{label} {} {facts}", result.id)?;
        if needs_attention(result) {
            writeln!(self.out)?;
            self.details(result)?;
        } else {
            let reason = result.known_failure.as_ref().or(result.message.as_ref());
            let reason = reason.map(|text| format!(": {}", printable(text)));
            writeln!(self.out, "{}", reason.unwrap_or_default())?;
        }
        self.out.flush()
    }

    fn details(&mut self, result: &CaseReport) -> io::Result<()> {
        self.indented("", &result.title)?;
        for id in &result.clauses {
            let text = self.clauses.get(id).cloned().unwrap_or_default();
            self.indented(&format!("{id}: "), &text)?;
        }
        if let Some(step) = &result.step {
            self.indented("", step)?;
        }
        // The message of a failure repeats its first difference, which is printed below.
        if result.differences.is_empty() || result.verdict != Verdict::Fail {
            self.messages(result)?;
        }
        for difference in result.differences.iter().take(DIFFERENCES_SHOWN) {
            self.difference(difference)?;
        }
        let more = result.differences.len().saturating_sub(DIFFERENCES_SHOWN) as u64
            + result.differences_left_out.unwrap_or_default();
        if more > 0 {
            self.indented("", &format!("and {more} more differences"))?;
        }
        if let Some(words) = &result.adapter_message {
            self.indented("the adapter says: ", words)?;
        }
        if let Some(day) = result.excused_until {
            self.indented("", &format!("was a known failure until {day}"))?;
        }
        if let Some(stderr) = &result.stderr {
            for line in stderr.lines() {
                self.indented("stderr: ", line)?;
            }
        }
        if let Some(command) = &self.options.rerun {
            let command = command.replace("{id}", &result.id);
            self.indented("again: ", &command)?;
        }
        Ok(())
    }

    fn messages(&mut self, result: &CaseReport) -> io::Result<()> {
        let message = result.message.clone().unwrap_or_default();
        match &result.code {
            Some(code) => self.indented(&format!("{code}: "), &message),
            None => self.indented("", &message),
        }
    }

    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        let pointer = difference.pointer.as_str();
        self.indented("at ", if pointer.is_empty() { "the whole outcome" } else { pointer })?;
        let found = difference.encode();
        let found = found.get("actual").map(|found| beginning(found, difference.actual_bytes));
        let found = found.unwrap_or_else(|| "nothing".to_owned());
        let expected = beginning(&difference.expected, difference.expected_bytes);
        let expected = self.paint(Colour::Green, &expected);
        let found = self.paint(Colour::Red, &found);
        writeln!(self.out, "{INDENT}  expected {expected}")?;
        writeln!(self.out, "{INDENT}  found    {found}")
    }

    fn sums(&mut self, report: &RunReport) -> io::Result<()> {
        let summary = &report.summary;
        writeln!(self.out)?;
        for (level, totals) in &summary.levels {
            writeln!(self.out, "{level:<12} {}", counts(totals))?;
        }
        writeln!(self.out, "{:<12} {}", "required", counts(&summary.required))?;
        // With a line for every case, the reasons are there.
        if !self.options.every_case {
            self.skips(report)?;
        }
        let is_other =
            |case: &CaseReport| case.strength != Strength::Must && case.verdict == Verdict::Fail;
        if report.cases.iter().any(is_other) {
            writeln!(self.out, "cases that are not required do not change the result")?;
        }
        for line in text_levels::lines(report, self.options.removal.as_deref()) {
            writeln!(self.out, "{}", printable(&line))?;
        }
        for note in summary.notes.iter().flatten() {
            writeln!(self.out, "note: {}", printable(note))?;
        }
        for entry in &summary.stale {
            let label = self.paint(Colour::Red, "stale baseline");
            writeln!(self.out, "{label} {}: {}", entry.case, entry.why)?;
        }
        let (word, colour) = match summary.overall {
            _ if summary.verdict == Some(RunVerdict::NotJudged) => ("NOT JUDGED", Colour::Magenta),
            Overall::Pass => ("PASS", Colour::Green),
            Overall::Fail => ("FAIL", Colour::Red),
            Overall::Error => ("ERROR", Colour::Magenta),
        };
        let judged = summary.judged.as_ref().map(Judged::in_words);
        let because = summary.reasons.iter().chain(&judged);
        let because = because.map(|words| printable(words)).collect::<Vec<_>>().join(", ");
        let (word, took) = (self.paint(colour, word), summary.duration_ms);
        writeln!(self.out, "{word}: {because} ({took} ms, exit code {})", summary.exit_code)?;
        self.out.flush()
    }

    /// Why cases were skipped, and how many for each reason.
    fn skips(&mut self, report: &RunReport) -> io::Result<()> {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        let skipped = report.cases.iter().filter(|case| case.verdict == Verdict::Skip);
        for reason in skipped.filter_map(|case| case.message.as_deref()) {
            *reasons.entry(reason).or_default() += 1;
        }
        for (reason, count) in reasons.iter().take(MOST_REASONS) {
            let cases = plural(*count, "case");
            writeln!(self.out, "skipped: {cases}: {}", printable(reason))?;
        }
        if reasons.len() > MOST_REASONS {
            writeln!(self.out, "skipped: others for further reasons, which --verbose shows")?;
        }
        Ok(())
    }

    fn indented(&mut self, label: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "{INDENT}{label}{}", printable(text))
    }

    fn paint(&self, colour: Colour, text: &str) -> String {
        Style(self.options.colour).paint(colour, text)
    }
}

impl<W: Write> Reporter for TextReporter<W> {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event.what {
            What::RunStarted { run, protocol } => {
                let texts = protocol.clauses().iter();
                self.clauses =
                    texts.map(|clause| (clause.id.clone(), clause.text.clone())).collect();
                self.heading(run)
            }
            What::CaseStarted { .. } => Ok(()),
            What::CaseFinished { result, .. } => self.case(result),
            What::RunFinished { report } => self.sums(report),
        }
    }
}

/// Whether a case needs attention, and so gets more than one line.
fn needs_attention(result: &CaseReport) -> bool {
    match result.verdict {
        Verdict::Fail => result.known_failure.is_none(),
        Verdict::Error | Verdict::HarnessError => true,
        Verdict::Pass | Verdict::NotImplemented | Verdict::Skip => false,
    }
}

/// An adapter's output must not move the cursor or change colours on the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '\n' => safe.extend(["\n", INDENT]),
            '\t' => safe.push(next),
            next if next.is_control() => safe.extend(next.escape_unicode()),
            next => safe.push(next),
        }
    }
    safe
}

fn label(result: &CaseReport) -> (&'static str, Colour) {
    match result.verdict {
        Verdict::Pass => ("pass", Colour::Green),
        Verdict::Fail if result.known_failure.is_some() => ("known failure", Colour::Yellow),
        Verdict::Fail if result.strength != Strength::Must => ("not met", Colour::Yellow),
        Verdict::Fail => ("FAIL", Colour::Red),
        Verdict::Error => ("ERROR", Colour::Magenta),
        Verdict::HarnessError => ("HARNESS ERROR", Colour::Magenta),
        Verdict::NotImplemented => ("not implemented", Colour::Yellow),
        Verdict::Skip => ("skip", Colour::Dim),
    }
}

fn counts(totals: &Totals) -> String {
    let known = match totals.known_failure {
        0 => String::new(),
        known => format!(" ({known} known)"),
    };
    let own_word = match totals.self_reported {
        0 => String::new(),
        count => format!("; {count} self-reported"),
    };
    let mut parts =
        vec![format!("{} passed", totals.pass), format!("{} failed{known}", totals.fail)];
    for (count, name) in [
        (totals.error, "in error"),
        (totals.harness_error, "not run because of an error of the kit"),
        (totals.not_implemented, "not implemented"),
        (totals.skip, "skipped"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    format!("{}{own_word}", parts.join(", "))
}

/// The beginning of a value; `whole` is its length, if the report has only that.
fn beginning(value: &serde_json::Value, whole: Option<u64>) -> String {
    match (value, whole) {
        (serde_json::Value::String(text), Some(length)) => {
            let start: String = printable(text).chars().take(LONGEST_VALUE).collect();
            format!("{start}… ({length} bytes)")
        }
        (value, _) => excerpt(&printable(&value.to_string()), LONGEST_VALUE),
    }
}

/// A word quoted for a shell, for people to copy.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

const INDENT: &str = "    ";
const DIFFERENCES_SHOWN: usize = 5;
/// How many reasons of skipped cases the end of a run shows.
const MOST_REASONS: usize = 8;
const LONGEST_VALUE: usize = 400;

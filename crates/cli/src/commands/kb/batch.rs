//! One envelope per input line, one JSON object per output line.

use std::io::IsTerminal as _;

use accord_contract::{Code, Wire as _};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::answers::KbRefusal;
use super::question::Answerer;
use crate::input::{InputArgs, InputLine};
use crate::{CliError, Exit, Output, Result};

/// Answers every line. A refused line gets an answer too, and makes the exit code 1.
pub(super) fn run(input: &InputArgs, answerer: &mut Answerer) -> Result<Exit> {
    let mut lines = input.lines()?;
    let progress = progress_bar(lines.length);
    let mut output = Output::stdout();
    let mut all_yes = true;
    let mut number = 0_u64;
    while let Some(line) = lines.next()? {
        // Empty lines count, so that a number is that of the input file.
        number += 1;
        progress.set_position(lines.read);
        let answer = match line {
            InputLine::Text(text) if text.trim_ascii().is_empty() => continue,
            InputLine::Text(text) => answerer.answer(&text, Some(number)),
            InputLine::TooLong => {
                let message = format!("the line is longer than {} bytes", input.max_bytes);
                Err(CliError::new(Code::InputTooLarge, message))
            }
        };
        all_yes &= answer.as_ref().is_ok_and(|answer| answer.yes);
        output.line(match answer {
            Ok(answer) => answer.json.to_string(),
            Err(error) => {
                KbRefusal { line: number, error: error.line_error() }.encode().to_string()
            }
        })?;
    }
    progress.finish_and_clear();
    output.finish()?;
    Ok(Exit::from_answer(all_yes))
}

/// A progress bar on the terminal, unless the answers go there, too.
fn progress_bar(length: Option<u64>) -> ProgressBar {
    if !std::io::stderr().is_terminal() || std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match length {
        Some(length) => {
            (ProgressBar::new(length), "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        }
        None => (ProgressBar::no_length(), "{spinner} {bytes} {bytes_per_sec}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template(template).expect("the template is fixed");
    bar.set_style(style);
    bar
}

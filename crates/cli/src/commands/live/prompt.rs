//! The terminal of a person who answers: what is asked, which action, and [`questions`] for its
//! data.

use accord_contract::Code;
use accord_live_core::operations::answer::LiveAnswerRequest;
use accord_live_core::operations::questions::{LiveSessionAnswer, OfferedAction};

use super::questions::{self, Person};
use crate::render::{Page, clean, one_line};
use crate::terminal::{ask, is_yes};
use crate::{CliError, Result, print_note};

/// The longest text of a prop that is shown.
const MOST: usize = 400;

/// Shows what is asked, before the questions.
pub(super) fn show(shown: &LiveSessionAnswer) {
    let mut page = Page::for_stderr();
    let asked = shown.ask.as_ref().map(|ask| ask.intent.as_str());
    page.heading(asked.or_else(|| shown.session.prompt()).unwrap_or("no intent"));
    for (name, text) in shown.session.props() {
        page.labelled_whole(&clean(name), &one_line(&text, MOST));
    }
    print_note(page.as_str().trim_end());
}

/// The action: the only one, or the one that a person chooses.
pub(super) fn action(actions: &[OfferedAction], may_ask: bool) -> Result<String> {
    match actions {
        [only] => return Ok(only.name.clone()),
        [] => {
            return Err(CliError::usage("the contract of the session has no actions; name one"));
        }
        _ if !may_ask => {
            let listed: Vec<String> = actions.iter().map(|action| clean(&action.name)).collect();
            let message = "the session has several actions; name one";
            return Err(
                CliError::usage(message).help(format!("its actions are {}", listed.join(", ")))
            );
        }
        _ => {}
    }
    for (number, OfferedAction { name, label, .. }) in actions.iter().enumerate() {
        print_note(format!("  {}  {} ({})", number + 1, clean(label), clean(name)));
    }
    loop {
        let typed = line("action: ")?;
        let chosen = match typed.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|place| actions.get(place)),
            Err(_) => actions.iter().find(|action| action.name == typed),
        };
        match chosen {
            Some(action) => return Ok(action.name.clone()),
            None => print_note(format!("type a number from 1 to {}, or a name", actions.len())),
        }
    }
}

/// Asks for the data of an action, member by member. An action without a schema has none.
pub(super) fn add_data(request: &mut LiveAnswerRequest, action: &OfferedAction) -> Result<()> {
    let mut person = AtTerminal;
    if let Some(about) = &action.about {
        print_note(format!("  {}", one_line(&clean(about), MOST)));
    }
    request.data = match &action.question {
        Some(question) if question.is_object() => {
            Some(questions::members(&mut person, question)?.into())
        }
        Some(question) => Some(questions::required(&mut person, &action.name, question)?),
        None => None,
    };
    if let Some(question) = &action.confirm
        && !is_yes(&line(&format!("{} [y/N] ", clean(question)))?)
    {
        return Err(given_up(format!("{}: no; nothing was sent", clean(&action.name))));
    }
    Ok(())
}

struct AtTerminal;

impl Person for AtTerminal {
    fn line(&mut self, question: &str) -> Result<String> {
        line(question)
    }

    fn note(&mut self, text: &str) {
        print_note(text);
    }
}

fn given_up(message: impl Into<String>) -> CliError {
    CliError::new(Code::XchainGivenUp, message).help("run it again to answer")
}

/// A line that a person types, without the spaces around it.
fn line(question: &str) -> Result<String> {
    ask(question)?.ok_or_else(|| given_up("the input ended; nothing was sent"))
}

//! `accord context ask`: asks a person an open question of the memory, live.

use std::time::Duration;

use accord_memory_core::operations::{OfPackage, PackageWithin, ReadPackage};
use accord_memory_core::package::PackageFields;

use super::answer::open_question;
use crate::arguments::duration;
use crate::commands::live::{AskArgs, Asked, PlaceArgs};
use crate::host::{Actor, ActorArg, Connection, id_of, project_id};
use crate::render::clean;
use crate::{CliError, Exit, Result};

/// Ask a person an open question of the memory, wait, and print the answer
///
/// The answer becomes a package that answers the question. Without options the person writes a
/// text. The same command again goes on waiting for the same question.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ContextAskArgs {
    /// The package that asks, or the beginning of its id, with #INDEX where it asks several; or the
    /// question, or a part of it
    #[arg(value_name = "ID[#INDEX]|QUESTION")]
    question: String,

    /// An answer to choose from; can be repeated. The first one is yes
    #[arg(long = "option", id = "options", value_name = "TEXT")]
    options: Vec<String>,

    /// Whom the question is for, as a hint: human:NAME
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse)]
    to: Option<Actor>,

    /// How long it takes answers, for example 10m, 1h or 2d [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    within: Option<Duration>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

const EXAMPLES: &str = "\
`accord context questions` lists the open questions with their ids.

Exit codes: those of `accord live ask`.

Examples:
  accord context ask pkg_1f2e3d4c
  accord context ask pkg_1f2e3d4c#1 --option 'keep it' --option 'drop it' --within 1h";

impl ContextAskArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let place = self.place.open_to_wait()?;
        let question = question(&place.host, &place.project, &self.question)?;
        drop(place);
        let asked = Asked { question, options: self.options, to: self.to, within: self.within };
        AskArgs::about(asked, self.actor, self.place).run()
    }
}

/// The text of an open question.
fn question(host: &Connection, project: &str, given: &str) -> Result<String> {
    if given.trim().contains(char::is_whitespace) {
        return open_question(host, project, given);
    }
    let (id, index) = match given.rsplit_once('#') {
        Some((id, index)) => {
            let index = index.parse::<usize>().map_err(|_| {
                CliError::usage(format!("{} is not the index of a question", clean(index)))
            })?;
            (id, Some(index))
        }
        None => (given, None),
    };
    let id = host.package_id(id, Some(project))?;
    let path = OfPackage { package: id_of("package_id", &id)? };
    let within = PackageWithin { project: Some(project_id(project)?) };
    let package: PackageFields = host.ask::<ReadPackage>(path, within)?.answer.0;
    let questions = package.open_questions();
    let found = match (index, questions) {
        (Some(index), questions) => questions.get(index),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    found.cloned().ok_or_else(|| {
        let message = match questions.len() {
            0 => format!("{} asks nothing", clean(&id)),
            count => format!("{} asks {count} questions, and no such one is named", clean(&id)),
        };
        let line = |(at, text): (usize, &String)| clean(&format!("{id}#{at}: {text}"));
        let help = questions.iter().enumerate().map(line).collect::<Vec<_>>().join("\n");
        let error = CliError::usage(message);
        if help.is_empty() { error } else { error.help(help) }
    })
}

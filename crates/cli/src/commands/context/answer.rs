//! `accord context answer`: deposits a package that answers an open question.

use accord_contract::Object;
use accord_memory_core::limits::MAX_TITLE_CHARS;
use accord_memory_core::operations::{ListQuestions, QuestionParams};
use accord_memory_core::package::{ANSWERS, AnsweredQuestion, QuestionKey};

use super::compose::Draft;
use super::deposit::send;
use crate::host::{Connection, CredentialArgs, WriteArgs, in_project};
use crate::render;
use crate::{CliError, Exit, Result};

/// The shortest part of a question that is accepted. An answer cannot be taken back.
const SHORTEST: usize = 4;

/// How many questions a refusal lists.
const LISTED: usize = 5;

/// Answer an open question, with a complete package of the type decision
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnswerArgs {
    /// The question, or a part of it (from 4 characters on) that no other open question has
    #[arg(value_name = "QUESTION")]
    question: String,

    /// The answer
    #[arg(value_name = "ANSWER")]
    answer: String,

    /// The title [default: the question]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    #[command(flatten)]
    credentials: CredentialArgs,
    #[command(flatten)]
    to: WriteArgs,
}

impl AnswerArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let host = self.to.host.connect()?;
        let project = self.to.project(&host)?;
        let question = open_question(&host, &project, &self.question)?;
        let title = self.title.clone().unwrap_or_else(|| title(&question));
        let draft = Draft::default()
            .with("title", Some(title))
            .with("package_type", Some("decision".to_owned()))
            .with_all("decisions_made", vec![self.answer.clone()])
            .with_all(ANSWERS, vec![AnsweredQuestion { question, extra: Object::new() }]);
        send(&host, draft.complete(&self.to, &host)?, &self.credentials, self.to.host.json)
    }
}

/// The open question that a text is, or is a part of.
pub(super) fn open_question(host: &Connection, project: &str, text: &str) -> Result<String> {
    let open = open_questions(host, project)?;
    let key = QuestionKey::of(text);
    if let Some(same) = open.iter().find(|question| QuestionKey::of(question) == key) {
        return Ok(same.clone());
    }
    let part = text.trim().to_lowercase();
    let is_part = |question: &&String| {
        part.chars().count() >= SHORTEST && question.to_lowercase().contains(&part)
    };
    let matching: Vec<&String> = open.iter().filter(is_part).collect();
    let message = match matching[..] {
        [one] => return Ok(one.clone()),
        [] => format!("{project} has no open question {text:?}"),
        _ => format!("{} open questions contain {text:?}", matching.len()),
    };
    let listed = if matching.is_empty() { open.iter().collect() } else { matching };
    let listed = listed.iter().take(LISTED);
    let listed: Vec<_> = listed.map(|text| format!("  {}", render::clean(text))).collect();
    let help = match listed.is_empty() {
        true => "`accord context questions --all` lists the answered ones".to_owned(),
        false => format!("give the text of one of them:\n{}", listed.join("\n")),
    };
    Err(CliError::usage(message).help(help))
}

fn open_questions(host: &Connection, project: &str) -> Result<Vec<String>> {
    let path = in_project(project)?;
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let asked = QuestionParams { limit: Some(200), cursor, ..QuestionParams::default() };
        let list = host.ask::<ListQuestions>(path.clone(), asked)?.answer.0;
        found.extend(list.questions.into_iter().map(|entry| entry.question));
        cursor = list.next_cursor;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

fn title(question: &str) -> String {
    let title: String = format!("Answered: {}", question.trim());
    if title.chars().count() <= MAX_TITLE_CHARS {
        return title;
    }
    let shortened: String = title.chars().take(MAX_TITLE_CHARS - 1).collect();
    format!("{shortened}…")
}

const EXAMPLES: &str = "\
Examples:
  accord context questions --project shop
  accord context answer --project shop --actor human:lead \"Who owns refunds?\" \"Payments does\"

The question then no longer appears in orient and digest. `accord context deposit --answers`
answers questions with any other package.";

//! `accord context questions`: what is not settled yet.

use accord_memory_core::operations::{ListQuestions, QuestionParams};

use crate::host::{HostArgs, ProjectArg, in_project, print_items};
use crate::render;
use crate::{Exit, Result};

/// List the open questions of a project, of any age
#[derive(Debug, clap::Args)]
pub(crate) struct QuestionsArgs {
    /// Include answered questions
    #[arg(long)]
    all: bool,

    /// The maximum number [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// The cursor of the next page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl QuestionsArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let (all, limit, cursor) = (self.all, self.limit, self.cursor);
        let asked = QuestionParams { all, limit, cursor, max_tokens: None };
        print_items(
            self.host.json,
            &host.ask::<ListQuestions>(in_project(&project)?, asked)?,
            |page, list| render::questions(page, &list.questions),
            || match self.all {
                true => format!("nothing was asked in {project}"),
                false => format!("{project} has no open questions"),
            },
        )
    }
}

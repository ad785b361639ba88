//! `accord task merge`: what a merge of git left.

use accord_api::Json;
use accord_tasks_core::operations::{MergeAnswer, MergeRequest, MergeTasks};

use super::place::PlaceArgs;
use crate::host::{ActorArg, check_person};
use crate::render::{Page, clean};
use crate::{Exit, Result};

/// Decide which versions of tasks count after a merge of git
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What only one copy changed counts, and all comments stay. Of what both changed, \
                        the version with a person's decision wins, then the later one: what is \
                        dropped is printed. The other version is in the event task.merged.\nOf two \
                        tasks with one id, the later one gets the next free id, with its folder."
)]
pub(super) struct MergeArgs {
    /// Only say what would be merged
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl MergeArgs {
    pub(super) fn run(self) -> Result<Exit> {
        check_person()?;
        let place = self.place.open()?;
        let body = MergeRequest { dry_run: self.dry_run.then_some(true) };
        let actor = self.actor.acting()?;
        let answer = place.change::<MergeTasks>(place.tasks()?, Json(body), &actor)?;
        let is_done = answer.answer.0.result.unmerged.is_empty();
        let is_trial = self.dry_run;
        place.print(answer, |page, answer| merged(page, answer, is_trial))?;
        Ok(Exit::from_answer(is_done))
    }
}

fn merged(page: &mut Page, answer: &MergeAnswer, is_trial: bool) {
    for task in &answer.merged {
        let keeps = answer.merged.iter().any(|other| other.from == Some(task.task_id));
        let how = match (&task.from, task.reason.as_str()) {
            (Some(from), _) => format!("was {from}, whose id another task keeps"),
            (None, "decision") => "a person decided about this version".to_owned(),
            (None, "committed") if keeps => "it was created first, and keeps its id".to_owned(),
            (None, "committed") => "only one copy changed it".to_owned(),
            (None, "united") => "what both copies changed is united".to_owned(),
            (None, "kept") => "only one copy removed it".to_owned(),
            (None, _) => "the later version".to_owned(),
        };
        page.line(format!("{} {}: {}", task.task_id, task.status, clean(&task.title)));
        page.line(format!("  {how}"));
        match &task.said {
            Some(said) => said.iter().for_each(|said| page.line(format!("  {}", clean(said)))),
            // A host of an earlier version names the members alone.
            None if !task.lost.is_empty() => {
                let lost: Vec<String> =
                    task.lost.iter().map(|name| clean(name).to_string()).collect();
                page.line(format!("  the other version differed in {}", lost.join(", ")));
            }
            None => {}
        }
        for id in &task.rewritten {
            page.line(format!("  rewritten in {id}"));
        }
    }
    for file in &answer.unmerged {
        page.line(format!("{}: {}", clean(&file.path), clean(&file.problem)));
    }
    if answer.merged.is_empty() && answer.unmerged.is_empty() {
        page.line("nothing to merge");
    } else if !is_trial && answer.unmerged.is_empty() {
        page.line("next  git add -A, then git commit (or git rebase --continue)");
    }
}

//! `accord run send-back`: the way back at a gate that waits.

use accord_runs::operations::SendBack;
use accord_runs_core::evidence::Subject;
use accord_runs_core::run::waiting_request;
use accord_runs_core::state::Pending;

use super::change::change_run;
use super::decide::fact_lines;
use super::person::PersonArgs;
use super::{RepoArgs, take, words};
use crate::render::clean;
use crate::{Exit, Result};

/// Send the request that waits for approval back: the run continues in its phase, and the next
/// prompt has the reason
#[derive(Debug, clap::Args)]
pub(super) struct SendBackArgs {
    /// The reason, for the next turns of the phase
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: String,

    /// The role that gets the next turn; the one that made the request if absent
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

impl SendBackArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open()?;
        take(runs.refuse_worker())?;
        let state = take(runs.state())?;
        let pending = runs.unless_decided(waiting_request(&state), self.person.expected());
        let (subject, request) = match take(pending)? {
            Pending::Transition(pending) => {
                (Subject::Transition, format!("the request for {}", clean(&pending.to)))
            }
            Pending::Completion(_) => {
                (Subject::Completion, "the request to complete the run".to_owned())
            }
        };
        let evidence = take(runs.evidence(&subject))?;
        let facts = runs.facts(&subject);
        let given = SendBack { reason: self.reason, role: self.role };
        let consent = self.person.consent("send it back", &evidence, |page| {
            page.line(format!("{request} would be dropped; the run continues in its phase"));
            page.labelled("phase", state.phase());
            page.labelled_whole("reason", &given.reason);
            fact_lines(page, &facts);
        })?;
        change_run(&self.repo, |runs| runs.send_back(&given, &consent))
    }
}

//! `accord run proposal`: changes that a turn proposes, and the decision of a person.

use accord_api::LocalDeclaration;
use accord_process::is_followed;
use accord_runs::Runs;
use accord_runs::answers::{proposal_answer, proposal_decision_answer, proposals_answer};
use accord_runs::operations::{ApplyTo, ProposalDecided, ProposalFilter};
use accord_runs_core::operations::{
    ApplyProposal, DropProposal, ListProposals, LocalOperation as _, ShowProposal,
};
use accord_runs_core::person::Consent;
use accord_runs_core::proposal::proposal_folder;
use accord_runs_core::{Subject, TurnId};

use super::decide::fact_lines;
use super::person::PersonArgs;
use super::{RepoArgs, choose_from, next_lines, take, turn_id, words};
use crate::host::Candidate;
use crate::render::{clean, counted, one_line, table};
use crate::{Exit, Result};

subcommands! {
    /// List, show, apply or drop the changes that turns propose
    pub(super) ProposalArgs, ProposalCommand {
        List(ListArgs),
        Show(ShowArgs),
        Apply(ApplyArgs),
        Drop(DropArgs),
    }
}

/// List the proposals that wait for a decision
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Those that were applied or dropped too
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Show the files of a proposal, and whether they can be applied
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The turn that made it, by its id or the beginning of it
    #[arg(value_name = "TURN", value_parser = turn_id)]
    turn: TurnId,

    #[command(flatten)]
    repo: RepoArgs,
}

/// Write the files of a proposal into the working tree
#[derive(Debug, clap::Args)]
struct ApplyArgs {
    /// The turn that made it, by its id or the beginning of it
    #[arg(value_name = "TURN", value_parser = turn_id)]
    turn: TurnId,

    /// Commit the files to git at once
    #[arg(long)]
    checkpoint: bool,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

/// Record that a proposal is not applied
#[derive(Debug, clap::Args)]
struct DropArgs {
    /// The turn that made it, by its id or the beginning of it
    #[arg(value_name = "TURN", value_parser = turn_id)]
    turn: TurnId,

    /// The reason
    #[arg(long, value_name = "TEXT", value_parser = words)]
    reason: Option<String>,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

impl ProposalArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        match &self.command {
            ProposalCommand::List(_) => ListProposals::declared(),
            ProposalCommand::Show(_) => ShowProposal::declared(),
            ProposalCommand::Apply(_) => ApplyProposal::declared(),
            ProposalCommand::Drop(_) => DropProposal::declared(),
        }
    }
}

/// The turn of a proposal, from its id or the beginning of it.
fn find(given: &TurnId, runs: &Runs) -> Result<TurnId> {
    let known = take(runs.proposals(ProposalFilter::All))?.into_iter().map(|view| Candidate {
        id: view.proposal.turn.to_string(),
        place: view.proposal.role.unwrap_or_default(),
    });
    // A turn without a proposal stays as it is: the service has a better message for it.
    let id = choose_from("proposal", given.as_str(), known)?;
    Ok(TurnId::parse(&id).unwrap_or_else(|| given.clone()))
}

impl ListArgs {
    fn run(self) -> Result<Exit> {
        let runs = self.repo.open()?;
        let filter = if self.all { ProposalFilter::All } else { ProposalFilter::Waiting };
        let answer = proposals_answer(&take(runs.proposals(filter))?);
        self.repo.say(&answer, |page| {
            if answer.proposals.is_empty() {
                page.line("no proposal waits for a decision");
                return;
            }
            let rows = answer.proposals.iter().map(|proposal| {
                vec![
                    proposal.turn_id.clone(),
                    clean(proposal.role.as_deref().unwrap_or("?")),
                    proposal.decision.clone().unwrap_or_else(|| "waits".to_owned()),
                    one_line(&proposal.files.join(", "), 60),
                ]
            });
            table(page, &["turn", "role", "decision", "files"], &rows.collect::<Vec<_>>());
        })
    }
}

impl ShowArgs {
    fn run(self) -> Result<Exit> {
        let runs = self.repo.open()?;
        let turn = find(&self.turn, &runs)?;
        let (view, files) = take(runs.proposal(&turn))?;
        let subject = Subject::Proposal(&view.proposal);
        let facts = runs.facts(&subject);
        let waits = view.decided.is_none();
        let evidence = waits.then(|| take(runs.evidence(&subject))).transpose()?;
        let known = facts.as_ref().ok().cloned();
        let answer = proposal_answer(&view, &files, evidence.as_ref(), known);
        let git = self.repo.git_words();
        self.repo.say(&answer, |page| {
            let role = clean(view.proposal.role.as_deref().unwrap_or("?"));
            let decided = view.decided.unwrap_or("waits for a decision");
            page.line(format!("{turn} of {role}: {decided}"));
            page.labelled_some_whole("summary", view.proposal.summary.as_deref());
            for file in &answer.files {
                page.labelled(&file.action, &format!("{} ({})", file.path, file.state));
            }
            for file in answer.files.iter().filter(|file| is_followed(file.path.as_ref())) {
                page.labelled("warning", &format!("agents or editors execute {}", file.path));
            }
            let folder = proposal_folder(&turn);
            for file in answer.files.iter().filter(|file| file.action == "modify") {
                let files = shell_words::join([&file.path, &format!("{folder}/{}", file.path)]);
                let compare =
                    format!("git{git} diff --no-index --no-ext-diff --no-textconv -- {files}");
                page.labelled_whole("compare", &compare);
            }
            fact_lines(page, &facts);
            if let Some(evidence) = &evidence {
                page.labelled("evidence", evidence.as_str());
                let repo = self.repo.words();
                let decide = |verb: &str| format!("accord run proposal {verb} {turn}{repo}");
                page.labelled_whole("decide", &decide("apply"));
                page.labelled_whole("", &decide("drop"));
            }
        })
    }
}

impl ApplyArgs {
    fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let turn = find(&self.turn, &runs)?;
        let consent = consent(&runs, &turn, self.person, "apply it")?;
        let to = if self.checkpoint { ApplyTo::Checkpoint } else { ApplyTo::WorkingTree };
        let decided = take(runs.apply_proposal(&turn, &consent, to))?;
        let files = counted(decided.files.len() as u64, "file");
        say(&self.repo, &runs, &decided, "applied", &format!("applied {turn}: {files} changed"))
    }
}

impl DropArgs {
    fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let turn = find(&self.turn, &runs)?;
        let consent = consent(&runs, &turn, self.person, "drop it")?;
        let decided = take(runs.drop_proposal(&turn, self.reason.as_deref(), &consent))?;
        say(&self.repo, &runs, &decided, "dropped", &format!("dropped {turn}"))
    }
}

/// Asks the person, after the files were shown.
fn consent(runs: &Runs, turn: &TurnId, person: PersonArgs, verb: &str) -> Result<Consent> {
    take(runs.refuse_worker())?;
    let (_, evidence) = take(runs.waiting_proposal(turn, person.expected()))?;
    let (view, files) = take(runs.proposal(turn))?;
    let facts = runs.facts(&Subject::Proposal(&view.proposal));
    person.consent(verb, &evidence, |page| {
        let role = clean(view.proposal.role.as_deref().unwrap_or("?"));
        page.line(format!("{turn} of {role} proposes"));
        for file in &files {
            let text = format!("{} ({})", file.path, file.state.as_str());
            page.labelled(file.action.as_str(), &text);
        }
        for file in files.iter().filter(|file| is_followed(file.path.as_ref())) {
            page.labelled("warning", &format!("agents or editors execute {}", file.path));
        }
        page.labelled_some_whole("it says", view.proposal.summary.as_deref());
        fact_lines(page, &facts);
    })
}

fn say(
    repo: &RepoArgs,
    runs: &Runs,
    decided: &ProposalDecided,
    decision: &str,
    line: &str,
) -> Result<Exit> {
    let answer = proposal_decision_answer(decided, decision, repo.next(runs)?);
    repo.say(&answer, |page| {
        page.line(line);
        decided.files.iter().for_each(|file| page.labelled("file", file));
        page.labelled_some("commit", decided.checkpoint.as_ref().map(|made| made.commit.as_str()));
        next_lines(page, &answer.next);
    })
}

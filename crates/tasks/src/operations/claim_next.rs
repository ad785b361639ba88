//! An agent takes the next ready task that fits.

use accord_base::By;
use accord_tasks_core::Status;
use accord_tasks_core::board::{ClaimFilter, Unfit};
use accord_tasks_core::operations::{ClaimNextAnswer, ClaimNextRequest, UnfitTasks};

use super::claim::{Claim, ClaimedTask, RunId};
use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// Claims the next ready task that fits, chosen and leased in one commit: no one else gets it.
    pub fn claim_next(&self, request: &ClaimNextRequest, by: &By) -> Result<ClaimNextAnswer> {
        let claim = Claim {
            agent: by.agent(request.agent.as_deref())?.to_owned(),
            run_id: RunId::of(self, request.run_id.as_ref())?,
            lease_ttl_ms: request.lease_ttl_ms,
            heartbeat_ttl_ms: request.heartbeat_ttl_ms,
            forced_by: None,
            project: self.project().to_owned(),
        };
        let request = request.clone();
        let (taken, none, ready) = self.change(move |work| {
            if let Some(claimed) = claim.again(work)? {
                return Ok((Some(claimed), None, ready(work)));
            }
            let (running, teams) = work.settings().limits();
            let mut unreadable = Vec::new();
            loop {
                let wish = ClaimFilter {
                    agent: &claim.agent,
                    roles: request.roles.as_deref().unwrap_or_default(),
                    teams: request.teams.as_deref().unwrap_or_default(),
                    tags: request.tags.as_deref().unwrap_or_default(),
                    only_mine: request.only_mine == Some(true),
                    leave_failed: request.leave_failed == Some(true),
                    except: &unreadable,
                    running,
                    team_limits: Some(&teams),
                };
                let id = match work.board().next_for(&wish, work.now()) {
                    Ok(id) => id,
                    Err(why) => {
                        let unfit = unfit(work.board().unfit(&wish, work.now()));
                        return Ok((None, Some((why.as_str().to_owned(), unfit)), ready(work)));
                    }
                };
                // A file that was removed or broken is not in the way of the others.
                if !matches!(work.find(id), Ok(Some(_))) {
                    unreadable.push(id);
                    continue;
                }
                return Ok((Some(claim.take(work, id)?), None, ready(work)));
            }
        })?;
        let (reason, unfit) = none.unzip();
        let unfit = unfit.flatten();
        Ok(ClaimNextAnswer { claimed: taken.map(ClaimedTask::answer), reason, unfit, ready })
    }
}

/// The ready tasks that the agent does not get.
fn unfit(found: Vec<(Unfit, u64)>) -> Option<Vec<UnfitTasks>> {
    let view = |(why, count): (Unfit, u64)| UnfitTasks {
        count,
        agent: why.agent,
        role: why.role,
        team: why.team,
        without_tags: (!why.without_tags.is_empty()).then_some(why.without_tags),
        waits: why.waits.then_some(true),
        left_to_others: why.left_to_others.then_some(true),
    };
    (!found.is_empty()).then(|| found.into_iter().map(view).collect())
}

fn ready(work: &Work<'_>) -> u64 {
    let count = work.board().counts().find(|(status, _)| *status == Status::Ready);
    count.map_or(0, |(_, count)| count as u64)
}

//! Why an agent gets none of the ready tasks: what they ask for that it does not have.

use std::collections::BTreeMap;

use accord_contract::Time;

use super::view::fits;
use super::{Board, ClaimFilter, Entry};

/// What ready tasks ask for.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Unfit {
    pub agent: Option<String>,
    pub role: Option<String>,
    pub team: Option<String>,
    /// The tags of the request that they lack.
    pub without_tags: Vec<String>,
    /// They wait for other tasks.
    pub waits: bool,
    /// The last attempt of the agent failed, and others get them first.
    pub left_to_others: bool,
}

/// The most kinds of tasks that are told apart.
const KINDS: usize = 8;

impl Board {
    /// The ready tasks that an agent does not get, counted by what they ask for; the most frequent
    /// first.
    pub fn unfit(&self, wish: &ClaimFilter<'_>, now: Time) -> Vec<(Unfit, u64)> {
        let mut found: BTreeMap<Unfit, u64> = BTreeMap::new();
        for entry in self.in_turn().filter_map(|id| self.entry(id)) {
            if let Some(why) = self.why_unfit(entry, wish, now) {
                *found.entry(why).or_default() += 1;
            }
        }
        let mut found: Vec<(Unfit, u64)> = found.into_iter().collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found.truncate(KINDS);
        found
    }

    fn why_unfit(&self, entry: &Entry, wish: &ClaimFilter<'_>, now: Time) -> Option<Unfit> {
        if !self.is_startable(entry) {
            return Some(Unfit { waits: true, ..Unfit::default() });
        }
        if !fits(entry, wish) {
            let lacks = wish.tags.iter().filter(|tag| !entry.tags.contains(tag));
            let agent = entry.agent.clone().filter(|agent| agent != wish.agent);
            let (role, team) = match agent {
                Some(_) => (None, None),
                None => (entry.role.clone(), entry.team.clone()),
            };
            let without_tags = lacks.cloned().collect();
            return Some(Unfit { agent, role, team, without_tags, ..Unfit::default() });
        }
        let failed = entry.failed_by.as_deref() == Some(wish.agent) && entry.agent.is_none();
        let is_left = wish.leave_failed || self.is_left_to_others(entry, wish.agent, now);
        (failed && is_left).then(|| Unfit { left_to_others: true, ..Unfit::default() })
    }
}

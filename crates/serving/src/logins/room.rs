//! Which links and logins leave where there are too many.
//!
//! The holder of a key, and a person who was given links, have a share. Who uses more than it ends
//! their own oldest ones. So no one ends what belongs to another, unless all shares together are
//! too many: then the oldest one of whoever has the most leaves.

use std::collections::BTreeMap;

use super::{Holder, MOST_LINKS, MOST_LOGINS};

pub(super) const LOGINS: Room = Room { most: MOST_LOGINS, each: 50 };
pub(super) const LINKS: Room = Room { most: MOST_LINKS, each: 20 };

pub(super) struct Room {
    most: usize,
    /// The share of a holder, except for the owner of the data folder and for a host without keys.
    each: usize,
}

impl Room {
    /// What leaves so that there is room for one more of a holder. `kept` is what there is, oldest
    /// first.
    pub(super) fn leaves<T>(&self, mut kept: Vec<(Holder, T)>, new: &Holder) -> Vec<T> {
        let mut leaves = Vec::new();
        while self.has_used_up(&kept, new) {
            leaves.push(take_oldest(&mut kept, share(new)));
        }
        while kept.len() >= self.most {
            let mut counts = BTreeMap::new();
            for (holder, _) in &kept {
                *counts.entry(share(holder)).or_insert(0_usize) += 1;
            }
            let Some((most, _)) = counts.into_iter().max_by_key(|(_, count)| *count) else { break };
            let most = (most.0, most.1.to_owned());
            leaves.push(take_oldest(&mut kept, (most.0, &most.1)));
        }
        leaves.into_iter().flatten().collect()
    }

    fn has_used_up<T>(&self, kept: &[(Holder, T)], of: &Holder) -> bool {
        let is_limited = matches!(of, Holder::Key(_) | Holder::Linked(_));
        is_limited && kept.iter().filter(|(it, _)| share(it) == share(of)).count() >= self.each
    }
}

fn take_oldest<T>(kept: &mut Vec<(Holder, T)>, of: (&str, &str)) -> Option<T> {
    let oldest = kept.iter().position(|(holder, _)| share(holder) == of)?;
    Some(kept.remove(oldest).1)
}

/// Whose share something takes.
fn share(holder: &Holder) -> (&'static str, &str) {
    match holder {
        Holder::Owner => ("owner", ""),
        Holder::Local => ("local", ""),
        Holder::Key(id) => ("key", id),
        Holder::Linked(question) => ("linked", &question.person),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use accord_contract::Time;
    use accord_store::{ModelStore, Units};

    use super::*;
    use crate::logins::{Halves, Logins};

    fn key(id: &str) -> Holder {
        Holder::Key(id.to_owned())
    }

    #[tokio::test]
    async fn one_key_ends_no_login_and_no_link_of_another() {
        let logins = Logins::new(Path::new("/"), &Units::new(Arc::new(ModelStore::new())));
        let at = Time::from_unix_millis;
        let mut begun = Vec::new();
        for holder in [key("lead"), Holder::Owner] {
            begun.push(logins.begin(holder.clone().into(), at(0)).await.unwrap());
        }
        let (of_lead, _) = logins.mint_link(key("lead").into(), at(0), 60);
        let (first_of_bot, _) = logins.mint_link(key("bot").into(), at(0), 60);
        let mut of_bot = Vec::new();
        for number in 1..=MOST_LOGINS as i64 {
            of_bot.push(logins.begin(key("bot").into(), at(number)).await.unwrap());
        }
        for number in 1..=MOST_LINKS as i64 {
            logins.mint_link(key("bot").into(), at(number), 60);
        }
        let now = at(MOST_LOGINS as i64 + 1);
        let halves = |begun: &crate::logins::Begun| {
            Halves::new([begun.cookie.as_str()].into_iter(), &begun.secret)
        };
        for begun in &begun {
            assert!(logins.find(&halves(begun), now).await.unwrap().is_some());
        }
        let mut open = 0;
        for begun in &of_bot {
            open += usize::from(logins.find(&halves(begun), now).await.unwrap().is_some());
        }
        assert_eq!(open, LOGINS.each);
        let last = of_bot.last().unwrap();
        assert!(logins.find(&halves(last), now).await.unwrap().is_some());
        assert!(logins.use_link(&first_of_bot, at(1)).is_err());
        logins.use_link(&of_lead, at(1)).unwrap();
    }

    #[test]
    fn the_oldest_of_whoever_has_the_most_leaves_first() {
        let room = Room { most: 4, each: 3 };
        let kept = || vec![(key("a"), 1), (key("b"), 2), (key("b"), 3), (Holder::Owner, 4)];
        assert_eq!(room.leaves(kept(), &key("c")), [2]);
        assert_eq!(room.leaves(kept(), &key("a")), [2]);
        let mut more = kept();
        more[0] = (key("b"), 1);
        assert_eq!(room.leaves(more, &key("b")), [1]);
        assert_eq!(room.leaves(vec![(Holder::Owner, 1); 4], &Holder::Owner), [1]);
    }
}

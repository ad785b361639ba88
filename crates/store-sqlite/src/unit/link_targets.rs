//! What links lead to, before they are stored.

use accord_base::ActorType;
use accord_memory_core::deposit::{LinkTarget, LinkTargets};
use accord_memory_core::package::{AnswerLink, Links, QuestionKey, Status};
use accord_store::{Drafts, Result};
use rusqlite::params;

use super::Unit;

/// What is known about a named package.
enum Named {
    Missing,
    /// It may not be shown, or cannot be read.
    Hidden,
    Shown {
        package: i64,
        author: ActorType,
    },
}

impl Unit<'_> {
    pub(super) fn targets_of(
        &self,
        project: i64,
        links: &Links,
        drafts: Drafts<'_>,
    ) -> Result<LinkTargets> {
        let mut targets = LinkTargets::default();
        for link in &links.answers {
            targets.answers.push(match link {
                AnswerLink::Question(key) => self.asked_anywhere(project, key, drafts)?,
                AnswerLink::Asked { package_id, index } => {
                    self.asked_at(project, package_id.as_str(), *index, drafts)?
                }
            });
        }
        for target in &links.supersedes {
            targets.supersedes.push(match self.named(project, target.as_str(), drafts)? {
                Named::Missing => LinkTarget::NoPackage,
                Named::Shown { author: ActorType::Human, .. } => LinkTarget::ByPerson,
                Named::Shown { .. } | Named::Hidden => LinkTarget::Found,
            });
        }
        Ok(targets)
    }

    fn asked_anywhere(
        &self,
        project: i64,
        question: &QuestionKey,
        drafts: Drafts<'_>,
    ) -> Result<LinkTarget> {
        let known = self.same_questions(project, question)?;
        if known.is_empty() {
            return Ok(LinkTarget::NoQuestion);
        }
        let audiences = self.audiences(project, drafts)?;
        let is_shown = known.iter().any(|known| audiences.contains(&known.audience));
        Ok(if is_shown { LinkTarget::Found } else { LinkTarget::NoQuestion })
    }

    fn asked_at(
        &self,
        project: i64,
        package_id: &str,
        index: u32,
        drafts: Drafts<'_>,
    ) -> Result<LinkTarget> {
        let package = match self.named(project, package_id, drafts)? {
            Named::Missing => return Ok(LinkTarget::NoPackage),
            Named::Hidden => return Ok(LinkTarget::Found),
            Named::Shown { package, .. } => package,
        };
        let sql = "SELECT 1 FROM question_use WHERE package = ?1 AND ordinal = ?2";
        let found = self.one(sql, params![package, index], |row| row.integer(0))?;
        Ok(found.map_or(LinkTarget::NoQuestion, |_| LinkTarget::Found))
    }

    fn named(&self, project: i64, package_id: &str, drafts: Drafts<'_>) -> Result<Named> {
        let sql = "SELECT pk, actor_type, actor_id, status FROM package
            WHERE package_id = ?1 AND project = ?2";
        let found = self.one(sql, params![package_id, project], |row| {
            let author = row.actor(1).ok();
            let is_draft = row.label(3) == Status::Draft.as_str();
            let author = author.filter(|author| !is_draft || drafts.include(author));
            Ok((row.integer(0)?, author))
        })?;
        Ok(match found {
            None => Named::Missing,
            Some((_, None)) => Named::Hidden,
            Some((package, Some(author))) => Named::Shown { package, author: author.kind },
        })
    }
}

//! Ids that are given by their beginning.

use accord_api::NoParams;
use accord_contract::{Code, Object};
use accord_memory_core::operations::{FindIds, IdsEnvelope};
use accord_memory_core::query::{IdKind, IdQuery};

use super::names::project_id;
use super::open::Connection;
use crate::render::clean;
use crate::{CliError, Result};

/// The digits of a generated id, behind its prefix.
const DIGITS: usize = 32;

impl Connection {
    /// The id of a package, from its beginning.
    pub(crate) fn package_id(&self, given: &str, project: Option<&str>) -> Result<String> {
        self.whole_id(IdKind::Package, "pkg_", given, project)
    }

    /// The id of a session, from its beginning.
    pub(crate) fn session_id(&self, given: &str, project: Option<&str>) -> Result<String> {
        self.whole_id(IdKind::Session, "sess_", given, project)
    }

    fn whole_id(
        &self,
        kind: IdKind,
        tag: &str,
        given: &str,
        project: Option<&str>,
    ) -> Result<String> {
        // A generated id has a fixed length, so the host need not be asked.
        if given.strip_prefix(tag).is_some_and(|digits| digits.len() >= DIGITS) {
            return Ok(given.to_owned());
        }
        let within = project.map(project_id).transpose();
        let found = within.and_then(|within| {
            let query = IdQuery { prefix: given.to_owned(), kind: Some(kind), within };
            self.ask::<FindIds>(NoParams, query)
        });
        // Another server has no such route. Any other error is left to the request itself.
        let Ok(found) = found else { return Ok(given.to_owned()) };
        let IdsEnvelope { ids, more, .. } = found.answer.0;
        let candidates = ids.into_iter().map(|it| Candidate { id: it.id, place: it.project_id });
        choose(kind.as_str(), given, candidates.collect(), more)
    }
}

/// An id that begins as given, and where it is.
pub(crate) struct Candidate {
    pub(crate) id: String,
    pub(crate) place: String,
}

/// The only id that begins as given. One that is given as a whole is not a beginning of others,
/// unless one of them was generated: an agent could take the first digits of an id that a person
/// types as the id of another package. If there is none, the text stays as it is, so that the error
/// names it.
pub(crate) fn choose(
    kind: &str,
    given: &str,
    candidates: Vec<Candidate>,
    more: bool,
) -> Result<String> {
    let mut ids: Vec<&str> = candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    ids.dedup();
    let is_beginning = ids.iter().any(|id| *id != given && is_generated(id));
    let is_whole = ids.contains(&given) && !is_beginning;
    match ids.as_slice() {
        [only] if !is_whole => Ok((*only).to_owned()),
        ids if is_whole || ids.is_empty() => Ok(given.to_owned()),
        ids => {
            let number = format!("{}{}", ids.len(), if more { " or more" } else { "" });
            let message = format!("{given:?} is the beginning of {number} {kind} ids");
            let lines = candidates.iter().map(|candidate| match candidate.place.as_str() {
                "" => candidate.id.clone(),
                place => format!("{}  {place}", candidate.id),
            });
            let lines: Vec<String> = lines.map(|line| clean(&line)).collect();
            let details = Object::from_iter([("candidates".to_owned(), ids.into())]);
            Err(CliError::new(Code::IdAmbiguous, message)
                .long_help(format!("type more of it:\n{}", lines.join("\n")))
                .with_details(details))
        }
    }
}

/// Whether an id has the form of those that Accord makes.
fn is_generated(id: &str) -> bool {
    let digits = id.rsplit_once('_').map_or("", |(_, digits)| digits);
    digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(given: &str, ids: &[&str]) -> Result<String, String> {
        let candidate = |id: &&str| Candidate { id: (*id).to_owned(), place: String::new() };
        let candidates = ids.iter().map(candidate).collect();
        choose("package", given, candidates, false).map_err(|refused| refused.to_string())
    }

    #[test]
    fn a_short_id_does_not_stand_for_one_that_it_begins() {
        let long = format!("pkg_85b27dea{}", "1".repeat(24));
        assert_eq!(chosen("pkg_85b27dea", &[&long]).as_deref(), Ok(long.as_str()));
        let refused = chosen("pkg_85b27dea", &["pkg_85b27dea", &long]).unwrap_err();
        assert!(refused.contains("the beginning of 2 package ids"), "{refused}");
        assert_eq!(chosen("plan", &["plan", "plan-2"]).as_deref(), Ok("plan"));
        assert!(chosen("pla", &["plan", "plan-2"]).is_err());
        assert_eq!(chosen("none", &[]).as_deref(), Ok("none"));
    }
}

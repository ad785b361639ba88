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

/// The only id that begins as given. One that is given as a whole is not a beginning of others. If
/// there is none, the text stays as it is, so that the error names it.
pub(crate) fn choose(
    kind: &str,
    given: &str,
    candidates: Vec<Candidate>,
    more: bool,
) -> Result<String> {
    let is_whole = candidates.iter().any(|candidate| candidate.id == given);
    let mut ids: Vec<&str> = candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    ids.dedup();
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

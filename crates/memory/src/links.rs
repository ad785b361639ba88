//! The ids in a document that is written: short ones are completed.

use accord_base::{Access, Caller, ProjectId, Verb};
use accord_contract::{Failure, Object, Value};
use accord_memory_core::PackageId;
use accord_memory_core::package::{ANSWERS, SUPERSEDES};
use accord_store::ReadUnit;
use bytes::Bytes;

use super::{Memory, UnitResult, load};

/// The members of packages and facts that name a package.
const LINKS: [&str; 2] = ["parent_package_id", "source_package_id"];

impl Memory {
    /// A package or a fact with whole ids for the short ids of packages that it names. One without
    /// them stays as it was sent, and so does one with a hash, which covers its ids.
    pub async fn with_whole_ids(
        &self,
        caller: &Caller,
        project: &ProjectId,
        sent: Bytes,
    ) -> Result<Bytes, Failure> {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(&sent) else { return Ok(sent) };
        let has_short = links(&mut members).iter().any(|link| beginning(link).is_some());
        let may_read = caller.access().may(Verb::Read, project).is_ok();
        // A document that is refused, such as one with a member twice, is refused as it is.
        let is_sound = || accord_canon::canonicalize(accord_canon::Profile::Agentic, &sent).is_ok();
        let is_fixed = members.contains_key("content_hash");
        if !has_short || !may_read || is_fixed || !is_sound() {
            return Ok(sent);
        }
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            let mut members = members.clone();
            for link in links(&mut members) {
                if let Some(id) = whole_id(unit, &access, &project, link)? {
                    *link = id.as_str().into();
                }
            }
            Ok(Value::Object(members).to_string().into())
        })
        .await
    }
}

fn whole_id(
    unit: &dyn ReadUnit,
    access: &Access,
    project: &ProjectId,
    link: &Value,
) -> UnitResult<Option<PackageId>> {
    let Some(id) = beginning(link) else { return Ok(None) };
    let rows = load::named(unit, access, Some(project), &id)?;
    // One that is missing gets a warning when the document is written.
    Ok(rows.into_iter().next().map(|row| row.package_id))
}

/// The short id that a link is.
fn beginning(link: &Value) -> Option<PackageId> {
    let id = PackageId::new(link.as_str()?).ok()?;
    id.beginning().map(|_| id)
}

/// The values that name a package.
fn links(members: &mut Object) -> Vec<&mut Value> {
    let mut links = Vec::new();
    for (name, value) in members.iter_mut() {
        match (name.as_str(), value) {
            (name, value) if LINKS.contains(&name) => links.push(value),
            (SUPERSEDES, Value::Array(items)) => links.extend(items),
            (ANSWERS, Value::Array(items)) => {
                links.extend(items.iter_mut().filter_map(|item| item.get_mut("package_id")));
            }
            _ => {}
        }
    }
    links
}

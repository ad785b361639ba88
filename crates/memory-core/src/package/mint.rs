//! Adds an id to a package that has none.

use accord_contract::Failure;

use crate::limits::MAX_PACKAGE_BYTES;
use crate::{PackageId, refuse, text};

/// The submitted text with a new id from 16 random bytes, unless it has one.
/// Clauses: AGENTIC-R-003, AGENTIC-A-07.
pub fn with_minted_id(submitted: &[u8], random: [u8; 16]) -> Result<String, Failure> {
    text::check_size(submitted, MAX_PACKAGE_BYTES)?;
    let submitted =
        std::str::from_utf8(submitted).map_err(|_| refuse::schema("", "the body is not UTF-8"))?;
    let minted = text::quoted(PackageId::mint(random).as_str());
    match text::member(submitted, "package_id").map_err(refuse::canon)? {
        Some(found) if &submitted[found.clone()] == "null" => {
            text::replace(submitted, &[("package_id", &minted)]).map_err(refuse::canon)
        }
        Some(_) => Ok(submitted.to_owned()),
        None if submitted.trim_start().starts_with('{') => {
            Ok(text::insert_first(submitted, "package_id", &minted))
        }
        None => Err(refuse::schema("", "expected a JSON object")),
    }
}

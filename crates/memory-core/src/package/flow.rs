//! The packages that Accord makes itself, from the record of another protocol. Their author and the
//! members that name the record are reserved: a reader relies on them.

use accord_contract::{Code, Failure, Value};

use super::PackageFields;
use crate::ActorType;
use crate::sources::SOURCE;

/// The author of the packages.
pub const AUTHOR: &str = "accord";
/// The member that says who approved the record.
pub const APPROVED_BY: &str = "x-approved_by";
/// The member that names the work, and the attempt at it, whose result the package is: what its
/// worker deposited is its parent.
pub const RESULT_OF: &str = "x-result_of";
/// The member that says which attempt of a worker was rejected: what it left is taken back.
pub const TAKES_BACK: &str = "x-takes_back";
/// The member of [`SOURCE`] that names the protocol of the record.
pub const PROTOCOL: &str = "protocol";

/// Whether a package is the result of an attempt, which Accord kept.
pub fn is_result(fields: &PackageFields) -> bool {
    is_by_accord(fields) && fields.extra.contains_key(RESULT_OF)
}

/// Whether Accord is the author of a package.
pub fn is_by_accord(fields: &PackageFields) -> bool {
    let author = &fields.created_by;
    author.kind == ActorType::Script && author.id.as_str() == AUTHOR
}

/// Fails with `reserved_package` if a package says that Accord made it.
pub(crate) fn check_free(fields: &PackageFields) -> Result<(), Failure> {
    let Some(pointer) = reserved(fields) else { return Ok(()) };
    let message = format!("{} is reserved for packages that Accord makes itself", &pointer[1..]);
    let failure = Failure::new(Code::AgenticReservedPackage, message).at(pointer);
    Err(failure.suggesting("name the author of the package, and leave the member out"))
}

/// The place that is reserved, if the package has it.
fn reserved(fields: &PackageFields) -> Option<&'static str> {
    if is_by_accord(fields) {
        return Some("/created_by");
    }
    if fields.extra.contains_key(APPROVED_BY) {
        return Some("/x-approved_by");
    }
    let names_record = |source: &Value| source.get(PROTOCOL).is_some();
    fields.extra.get(SOURCE).is_some_and(names_record).then_some("/x-source")
}

//! Paths that messages name.

use accord_contract::{Code, Failure};

use super::{Call, Refused};

impl Call<'_> {
    /// Refuses a message one of whose paths leads out of its root.
    /// Clauses: AOF-PATHS.
    pub(super) fn check_paths<'p>(
        &self,
        member: &str,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Result<(), Refused> {
        let Some(path) = paths.into_iter().find(|path| !is_inside(path)) else { return Ok(()) };
        let message = format!("{member} names {path:?}, which leads out of the folder");
        let failure = Failure::new(Code::AofPathOutsideTask, message)
            .at(format!("/payload/{member}"))
            .with("member", member)
            .with("path", path);
        Err(self.refused(failure))
    }
}

/// Whether a relative path stays inside the folder that it is resolved in.
fn is_inside(path: &str) -> bool {
    if path.starts_with(['/', '\\', '~']) || path.contains('\0') {
        return false;
    }
    let mut depth = 0_i64;
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

//! A new tree.

use accord_contract::codes::Failure;
use accord_tasks_core::Status;
use accord_trees::atomic;

use crate::Tree;
use crate::layout::status_folder;
use crate::tree::failure;

impl Tree {
    /// Makes the folders of a tree. Existing ones stay as they are.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn init(&self) -> Result<(), Failure> {
        let statuses = Status::ALL.iter().map(|status| status_folder(*status));
        for folder in statuses.chain(["runs".into(), "events".into()]) {
            atomic::make_folders(self.disk(), &folder).map_err(|error| failure(&error))?;
        }
        Ok(())
    }
}

//! Lines of a later version of the protocol, kept in a file for a later version of Accord.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use accord_base::ProjectId;
use accord_canon::sha256;
use accord_store::StoreError;

use crate::spool::io_error;

/// The folder of quarantined lines, in the data folder.
const FOLDER: &str = "quarantine";

/// The file of an import's quarantined lines. It is created with the first line.
#[derive(Debug)]
pub(super) struct QuarantineFile {
    /// Its path; `None` without a data folder.
    data_folder: Option<PathBuf>,
    name: String,
    file: Option<BufWriter<File>>,
}

impl QuarantineFile {
    pub(super) fn new(data_folder: Option<&Path>, project: &ProjectId) -> Self {
        // A project id may contain characters that a file name may not.
        let project = &sha256(project.as_str().as_bytes()).hex()[..12];
        let random = accord_system::random_hex::<8>();
        Self {
            data_folder: data_folder.map(Path::to_owned),
            name: format!("{FOLDER}/{project}-{random}.ndjson"),
            file: None,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.data_folder.is_some()
    }

    pub(super) fn put(&mut self, line: &[u8]) -> Result<(), StoreError> {
        if self.file.is_none() {
            self.file = self.create()?;
        }
        if let Some(file) = &mut self.file {
            file.write_all(line).map_err(io_error)?;
            file.write_all(b"\n").map_err(io_error)?;
        }
        Ok(())
    }

    /// Syncs the quarantined lines. Returns the name of their file.
    pub(super) fn finish(&mut self) -> Result<Option<String>, StoreError> {
        let Some(file) = self.file.take() else { return Ok(None) };
        let file = file.into_inner().map_err(|error| io_error(error.into_error()))?;
        // Before the summary names the file: the lines exist nowhere else in this host.
        file.sync_all().map_err(io_error)?;
        if let Some(folder) = &self.data_folder {
            sync(&folder.join(FOLDER))?;
            sync(folder)?;
        }
        Ok(Some(self.name.clone()))
    }

    fn create(&self) -> Result<Option<BufWriter<File>>, StoreError> {
        let Some(folder) = &self.data_folder else { return Ok(None) };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(folder.join(FOLDER)).map_err(io_error)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(folder.join(&self.name)).map_err(io_error)?;
        Ok(Some(BufWriter::new(file)))
    }
}

fn sync(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error)
}

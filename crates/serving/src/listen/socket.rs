//! The socket in the data folder, for the owner of the folder.
//!
//! The file's mode admits only the owner, so a connection through it needs no key. A killed server
//! leaves the file behind. A process that holds the lock of the store knows that such a file is
//! stale.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};
use tokio::net::{UnixListener, UnixStream};

/// The name of the socket in a data folder.
pub const SOCKET: &str = "accord.sock";
/// The longest path of a socket, in bytes, on the systems with the smallest limit (macOS).
pub(super) const MAX_PATH: usize = 103;

/// The listening socket. Its file is removed when this is dropped.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens on the socket of a folder whose store this process has opened.
    pub fn bind(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(SOCKET);
        // Between bind and chmod others could connect, so it is bound under another name first.
        let early = folder.join(format!("{SOCKET}~"));
        if early.as_os_str().as_bytes().len() > MAX_PATH {
            let shown = early.display();
            let message =
                format!("the path {shown} is too long for a socket; the limit is {MAX_PATH} bytes");
            return Err(Failure::new(Code::ServeSocketFailed, message));
        }
        let bind = || -> io::Result<UnixListener> {
            clear(&path)?;
            clear(&early)?;
            let listener = UnixListener::bind(&early)?;
            fs::set_permissions(&early, fs::Permissions::from_mode(0o600))?;
            fs::rename(&early, &path)?;
            Ok(listener)
        };
        let listener = bind().map_err(|error| {
            Failure::new(Code::ServeSocketFailed, format!("{}: {error}", path.display()))
        })?;
        Ok(Self { listener, path })
    }

    pub async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // If this fails, the next server removes it.
        drop(fs::remove_file(&self.path));
    }
}

/// Removes a stale socket. Any other file with that name is not ours to remove.
fn clear(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::other("the file exists and is not a socket")),
    }
}

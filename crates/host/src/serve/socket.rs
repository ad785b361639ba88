//! The socket in the data folder: the door of whoever has the folder.
//!
//! The file's mode lets nobody else in, so that who comes through it is the owner. A server that was
//! killed leaves the file; whoever has the lock of the store knows that nobody listens on it any more.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use accord_contract::codes::{Code, Failure};
use tokio::net::{UnixListener, UnixStream};

/// The file of the socket in a data folder.
pub const SOCKET: &str = "accord.sock";

/// How long the path of a socket may be, in bytes, on the systems that allow the least.
const LONGEST: usize = 103;

/// The socket, as long as it is listened on.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens on the socket of a folder whose store this process has opened.
    pub(super) fn bind(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(SOCKET);
        // It gets its name when nobody else can use it any more.
        let early = folder.join(format!("{SOCKET}~"));
        if early.as_os_str().as_bytes().len() > LONGEST {
            let message = format!(
                "the path {} is too long for a socket, which may have {LONGEST} bytes",
                early.display()
            );
            return Err(Failure::new(Code::ServeSocketFailed, message));
        }
        let made = (|| {
            clear(&path)?;
            clear(&early)?;
            let listener = UnixListener::bind(&early)?;
            fs::set_permissions(&early, fs::Permissions::from_mode(0o600))?;
            fs::rename(&early, &path)?;
            Ok(listener)
        })();
        match made {
            Ok(listener) => Ok(Self { listener, path }),
            Err(error) => {
                let error: io::Error = error;
                let message = format!("{}: {error}", path.display());
                Err(Failure::new(Code::ServeSocketFailed, message))
            }
        }
    }

    /// The next who comes.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // One that stays is cleared away by the next server.
        drop(fs::remove_file(&self.path));
    }
}

/// Removes a socket that nobody listens on any more. Anything else of that name is not ours to remove.
fn clear(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::other("there is something that is no socket")),
    }
}

//! Where a server may listen.

use accord_contract::codes::{Code, Failure};

use crate::settings::Settings;

/// Refuses to listen where others could reach a server that does not know them, or could read along.
///
/// # Errors
/// Without keys, and without TLS, on an address that is not this machine's alone; and
/// without keys behind a proxy, which is there to let others in.
pub(super) fn check(settings: &Settings, has_keys: bool) -> Result<(), Failure> {
    let listen = settings.listen;
    let local = listen.ip().to_canonical().is_loopback();
    if local && !settings.behind_proxy {
        return Ok(());
    }
    let reach = match local {
        true => "a server behind a proxy can be reached by others".to_owned(),
        false => format!("{listen} can be reached by others"),
    };
    if !has_keys {
        let message = format!("{reach}, and there are no keys");
        return Err(Failure::new(Code::ServeKeysNeeded, message));
    }
    if !local && !settings.does_tls() && !settings.behind_proxy {
        let message = format!("{reach}, and there is no TLS");
        return Err(Failure::new(Code::ServeTlsNeeded, message));
    }
    Ok(())
}

//! Which addresses a server may listen on.

use accord_contract::{Code, Failure};

use crate::settings::Settings;

/// Requires keys and TLS (or a proxy that terminates it) on addresses that other machines can
/// reach. Behind a proxy keys are required on any address, since the proxy forwards requests of
/// others.
pub fn check(settings: &Settings, has_keys: bool) -> Result<(), Failure> {
    let listen = settings.listen;
    // `::ffff:127.0.0.1` is a loopback address, too.
    let local = listen.ip().to_canonical().is_loopback();
    if local && !settings.behind_proxy {
        return Ok(());
    }
    let reach = if local {
        "a server behind a proxy can be reached from other machines".to_owned()
    } else {
        format!("{listen} can be reached from other machines")
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

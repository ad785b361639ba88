//! The moments after which something lasts. A test kills a process at each of them.

/// Says that what a step wrote lasts now. A build for tests can end the process here, as `kill -9`
/// does, if `ACCORD_KILL_AT` names the step, and writes the names of its steps to the file
/// `ACCORD_STEPS`.
#[cfg(feature = "faults")]
pub fn durable_step(name: &str) {
    use std::io::Write as _;
    if let Some(path) = std::env::var_os("ACCORD_STEPS")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
    if std::env::var("ACCORD_KILL_AT").is_ok_and(|killed| killed == name) {
        std::process::abort();
    }
}

/// Says that what a step wrote lasts now. Only a build for tests does something here.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn durable_step(_name: &str) {}

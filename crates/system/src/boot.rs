//! Which start of the machine this is.

/// A name of the present start of the machine; of the process, where the system has none.
pub fn boot_id() -> String {
    let known = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    match known {
        Ok(id) => id.trim().to_owned(),
        Err(_) => crate::random_hex::<16>(),
    }
}

//! What operations take from outside: the clock and random bytes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use accord_contract::Time;

#[derive(Clone)]
pub struct Environment {
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
    random: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    boot: Arc<str>,
    uptime: Option<Arc<dyn Fn() -> Duration + Send + Sync>>,
    state: Option<Arc<Path>>,
}

impl Environment {
    pub fn system() -> Self {
        Self::new(accord_system::now, accord_system::random::<16>, &accord_system::boot_id())
            .with_uptime(accord_system::uptime)
    }

    /// An environment with its own clock, randomness and start of the machine, for tests.
    pub fn new(
        clock: impl Fn() -> Time + Send + Sync + 'static,
        random: impl Fn() -> [u8; 16] + Send + Sync + 'static,
        boot: &str,
    ) -> Self {
        Self {
            clock: Arc::new(clock),
            random: Arc::new(random),
            boot: boot.into(),
            uptime: None,
            state: None,
        }
    }

    /// The environment with a second clock, which never jumps: jumps of the first are found.
    #[must_use]
    pub fn with_uptime(self, uptime: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { uptime: Some(Arc::new(uptime)), ..self }
    }

    /// The environment with the state folder of the user, in which the numbers of trees are
    /// remembered.
    #[must_use]
    pub fn with_state_folder(self, folder: Option<PathBuf>) -> Self {
        Self { state: folder.map(Into::into), ..self }
    }

    pub(crate) fn state_folder(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    pub fn now(&self) -> Time {
        (self.clock)()
    }

    /// The time that went by since some moment, by a clock that never jumps.
    pub(crate) fn uptime(&self) -> Option<Duration> {
        self.uptime.as_ref().map(|uptime| uptime())
    }

    pub(crate) fn run_id(&self) -> String {
        let random = (self.random)();
        random.iter().fold("run_".to_owned(), |id, byte| format!("{id}{byte:02x}"))
    }

    pub(crate) fn random(&self) -> [u8; 16] {
        (self.random)()
    }

    pub(crate) fn random_number(&self) -> u32 {
        let [.., a, b, c, d] = (self.random)();
        u32::from_be_bytes([a, b, c, d])
    }

    /// Which start of the machine this is.
    pub(crate) fn boot(&self) -> &str {
        &self.boot
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Environment").field("boot", &self.boot).finish_non_exhaustive()
    }
}

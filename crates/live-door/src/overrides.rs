//! What the conformance control overrides for single sessions, so that a kit can see how a page
//! fails. Without the control there are no overrides.

use std::collections::HashMap;

use accord_contract::Value;
use accord_live_core::SessionId;
use parking_lot::Mutex;

#[derive(Default)]
pub struct Overrides(Mutex<HashMap<SessionId, Override>>);

#[derive(Clone, Debug, Default)]
pub struct Override {
    /// The URL of the first module of the page, and of the runtime in the slice.
    pub renderer_url: Option<String>,
    /// What the page gets instead of the document that it starts with.
    pub ui_initialize: Option<Value>,
}

impl Overrides {
    pub fn of(&self, session: &SessionId) -> Override {
        self.0.lock().get(session).cloned().unwrap_or_default()
    }

    pub fn change(&self, session: &SessionId, change: impl FnOnce(&mut Override)) {
        change(self.0.lock().entry(session.clone()).or_default());
    }

    pub fn clear(&self, session: &SessionId) {
        self.0.lock().remove(session);
    }
}

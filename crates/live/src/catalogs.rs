//! The servers of the tools that agents have, as their runtimes declare them.
//!
//! A handshake of the app names the servers of its contract so. Catalogs are kept in memory: a
//! runtime declares its tools whenever it connects.

use std::collections::{BTreeMap, HashMap};

use accord_base::{Caller, Need};
use accord_contract::{Failure, Object, Value};
use accord_live_core::AppId;
use accord_live_core::tools::{DeclareToolsAnswer, DeclareToolsRequest};
use accord_live_core::tools::{tool_identities, with_tool_identities};
use parking_lot::Mutex;

use super::Live;

/// Apps whose tools are kept. When there are more, those of the others are declared again.
const APPS: usize = 1024;

/// The servers of tools, by app and name of the tool.
#[derive(Default)]
pub(crate) struct Catalogs(Mutex<HashMap<AppId, BTreeMap<String, Value>>>);

impl Live {
    /// Records the servers of the tools of an app. The catalog before is gone. The project need not
    /// exist: a runtime connects before its agent shows something. Fails with `unauthorized`,
    /// `project_archived`, `INVALID_MESSAGE`.
    pub async fn declare_tools(
        &self,
        caller: &Caller,
        app: &AppId,
        request: DeclareToolsRequest,
    ) -> Result<DeclareToolsAnswer, Failure> {
        self.enter(caller, app, Need::Write)?;
        self.check_open(app).await?;
        self.inner.catalogs.replace(app, tool_identities(request)?);
        Ok(DeclareToolsAnswer { saved: true, app_id: app.clone(), extra: Object::new() })
    }
}

impl Catalogs {
    /// Names the servers of the tools of a contract as the catalog of its app has them.
    pub(crate) fn apply(&self, app: &AppId, contract: &mut Object) {
        if let Some(catalog) = self.0.lock().get(app) {
            with_tool_identities(contract, catalog);
        }
    }

    fn replace(&self, app: &AppId, declared: BTreeMap<String, Value>) {
        let mut apps = self.0.lock();
        if apps.len() >= APPS && !apps.contains_key(app) {
            apps.clear();
        }
        apps.insert(app.clone(), declared);
    }
}

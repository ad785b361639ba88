//! The tools that the hosts of pages offer, as their pages declare them.
//!
//! A render of the app checks its contract against them. They are kept in memory: a page declares
//! them again when it is mounted again.

use std::collections::{BTreeMap, HashMap};

use accord_base::{Caller, Need};
use accord_contract::{Failure, Object, Value};
use accord_live_core::limits::{DECLARED_BYTES, DECLARED_TOOLS};
use accord_live_core::tools::{DeclareToolsRequest, Outcome, tool_schemas};
use accord_live_core::{AppId, refuse};
use parking_lot::Mutex;

use super::Live;

/// Apps whose tools are kept. When there are more, those of the others are declared again.
const APPS: usize = 1024;

/// The input schemas of tools, by app and name.
#[derive(Default)]
pub(crate) struct Catalogs(Mutex<HashMap<AppId, BTreeMap<String, Value>>>);

impl Live {
    /// Records the tools that the host of a page offers. Tools that another page of the app has
    /// declared stay. Fails with `unauthorized`, `project_archived`. A refusal of the protocol is
    /// an outcome.
    pub async fn declare_tools(
        &self,
        caller: &Caller,
        request: DeclareToolsRequest,
    ) -> Result<Outcome, Failure> {
        self.enter(caller, &request.app_id, Need::Write)?;
        self.check_open(&request.app_id).await?;
        let (app, session, now) = (request.app_id.clone(), request.session_id, self.now());
        let read = self.read(move |unit| {
            let found = unit.live_session(&session)?;
            let found = found.filter(|row| row.session.is_active(now));
            Ok(found.map(|row| row.session.app_id))
        });
        let outcome = match read.await? {
            None => Err(refuse::session_not_found("there is no such session")),
            Some(owner) if owner != app => {
                Err(refuse::tenant_mismatch("the session belongs to another app"))
            }
            Some(_) => self.inner.catalogs.add(&app, tool_schemas(&request.tools)),
        };
        Ok(Outcome::of(outcome.map(|()| Object::new())))
    }

    /// The input schemas of the tools that contracts of an app are checked against: those of the
    /// server count before those that pages have declared.
    pub(crate) fn tools_of(&self, app: &AppId) -> BTreeMap<String, Value> {
        let mut tools = self.inner.catalogs.of(app);
        let own = self.options().tools.iter();
        tools.extend(own.map(|(name, schema)| (name.clone(), schema.clone())));
        tools
    }
}

impl Catalogs {
    fn of(&self, app: &AppId) -> BTreeMap<String, Value> {
        self.0.lock().get(app).cloned().unwrap_or_default()
    }

    fn add(&self, app: &AppId, declared: BTreeMap<String, Value>) -> Result<(), Failure> {
        let mut apps = self.0.lock();
        let mut tools = apps.get(app).cloned().unwrap_or_default();
        tools.extend(declared);
        let bytes: usize = tools.values().map(|schema| schema.to_string().len()).sum();
        if tools.len() > DECLARED_TOOLS || bytes > DECLARED_BYTES {
            let message = format!(
                "the pages of the app declare more than {DECLARED_TOOLS} tools or \
                 {DECLARED_BYTES} bytes of schemas"
            );
            return Err(refuse::invalid_message(message).with("field", "tools"));
        }
        if apps.len() >= APPS && !apps.contains_key(app) {
            apps.clear();
        }
        apps.insert(app.clone(), tools);
        Ok(())
    }
}

//! Settings in the model.

use std::collections::BTreeMap;

use super::State;
use crate::{Result, Scope, SettingWrites, Settings};

impl Settings for State {
    fn setting(&self, scope: Scope<'_>, name: &str) -> Result<Option<String>> {
        Ok(self.settings_of(scope).and_then(|settings| settings.get(name)).cloned())
    }

    fn settings(&self, scope: Scope<'_>) -> Result<Vec<(String, String)>> {
        let settings = self.settings_of(scope).into_iter().flatten();
        Ok(settings.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

impl SettingWrites for State {
    fn put_setting(&mut self, scope: Scope<'_>, name: &str, value: Option<&str>) -> Result<()> {
        let settings = match scope {
            Scope::Store => &mut self.settings,
            Scope::Project(project) => &mut self.at_mut(project)?.settings,
        };
        match value {
            Some(value) => settings.insert(name.to_owned(), value.to_owned()),
            None => settings.remove(name),
        };
        Ok(())
    }
}

impl State {
    fn settings_of(&self, scope: Scope<'_>) -> Option<&BTreeMap<String, String>> {
        match scope {
            Scope::Store => Some(&self.settings),
            Scope::Project(project) => self.at(project).map(|project| &*project.settings),
        }
    }
}

//! `apply` and `review` of `project.yaml` decide about the work of agents, so that they count only
//! as set through Accord.

use accord_contract::{Object, Value};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::referee::Difference;
use accord_tasks_core::yaml::Yaml;

use super::SYSTEM;
use crate::Result;
use crate::layout::{MANIFEST, OWN, SETTINGS};
use crate::work::Work;

/// The members that are held, with what holds where the file has none.
const HELD: [(&str, &str); 2] = [("apply", "at-once"), ("review", "human")];

/// The text of `project.yaml` that did not count in full.
pub(crate) fn refused_manifest() -> String {
    format!("{OWN}/refused/{MANIFEST}")
}

impl Work<'_> {
    /// Puts the settings back that others changed.
    pub(crate) fn settle_settings(&mut self) -> Result<()> {
        let Some(committed) = self.state.settings().map(str::to_owned) else { return Ok(()) };
        let mut refused = Vec::new();
        if self.text(SETTINGS)?.as_deref() != Some(&*committed) {
            self.put(SETTINGS, committed.clone())?;
        }
        let settings: Object = serde_json::from_str(&committed).unwrap_or_default();
        if let Some(text) = self.text(MANIFEST)?
            && let Ok(mut yaml) = Yaml::read(text.clone())
        {
            let held = HELD.iter().filter_map(|(name, standard)| {
                let standard = Value::from(*standard);
                let accord = settings.get(*name).unwrap_or(&standard);
                let said = yaml.members().get(*name);
                let differs = said.unwrap_or(&standard) != accord;
                differs.then(|| Difference::new(&[name], Some(accord), said))
            });
            refused.extend(held);
            if self.index.is_in_git {
                // It can be what another copy says: put back here, it would be undone there.
                return Ok(());
            }
            let undo: Vec<_> = refused.iter().map(Difference::undo).collect();
            if !undo.is_empty() && yaml.edit(&undo).is_ok() {
                self.put(&refused_manifest(), text)?;
                self.put(MANIFEST, yaml.text().to_owned())?;
            }
        }
        if !refused.is_empty() {
            let values = refused.iter().map(|one| (one.member(), one.values()));
            let event = TaskEvent::new(kind::EDIT_REFUSED, SYSTEM, None, self.now)
                .with("source", "file")
                .with("filename", MANIFEST)
                .with("changes", Value::Object(values.collect::<Object>()))
                .with("kept", refused_manifest());
            self.events.push(event);
        }
        Ok(())
    }
}

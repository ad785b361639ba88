//! Changing the props of a UI.

use accord_base::{Caller, Need};
use accord_contract::{Code, Failure, Object, rule};
use accord_live_core::tools::{PropsAnswer, PropsRequest, read};
use accord_live_core::violation::{Source, ViolationDetails};
use accord_live_core::{AppId, props::PropsUpdate, session::set_props};

use super::{Live, rows};

impl Live {
    /// Changes the props: with a new epoch if the source is `ggui_update`, in place if it is
    /// `ggui_amend`. `arguments` are those of the tool.
    pub async fn set_props(
        &self,
        caller: &Caller,
        app: &AppId,
        arguments: Object,
        source: Source,
    ) -> Result<PropsAnswer, Failure> {
        let (project, app) = (self.enter(caller, app, Need::Write)?, app.clone());
        let change = PropsUpdate::read(&arguments).map_err(|violations| {
            let details = ViolationDetails::new(source, violations);
            details.into_failure(Code::GguiToolContractViolation)
        })?;
        let session = read::<PropsRequest>(arguments)?.session_id;
        let answered = self.write(move |job| {
            let row = job.session(&session, &app)?;
            let contract = job.contract(&row)?;
            let content = rows::content(job.unit, &row.session)?;
            let at = job.at(&project)?;
            let changed = set_props(&row.session, &content, &contract, &change, source, at)?;
            let told = rule!(changed.frame.clone(); PropsUntold => None);
            job.commit(&project, Some(&row), &changed.delta, told.into_iter().collect())?;
            let session = changed.delta.session.as_ref().unwrap_or(&row.session);
            Ok(match source == Source::Update {
                true => PropsAnswer::updated(session, &changed, &contract),
                false => PropsAnswer::amended(session, &changed, &contract),
            })
        });
        Ok(answered.await?)
    }
}

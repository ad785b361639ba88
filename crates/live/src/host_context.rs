//! What a client knows about its host.

use accord_contract::{Failure, rule};
use accord_live_core::frame::{Binding, HostContextObserved};
use accord_live_core::{refuse, session::host_context};

use super::{Live, project_of, unit::UnitError};

impl Live {
    /// Records a host context. It is not answered. Fails with `project_archived`,
    /// `SESSION_NOT_FOUND`; `APPEND_FAILED` when it cannot be stored.
    pub async fn observe_host(
        &self,
        binding: &Binding,
        observed: HostContextObserved,
    ) -> Result<(), Failure> {
        let (project, binding) = (project_of(&binding.app_id)?, binding.clone());
        let recorded = self.write(move |job| {
            let found = job.unit.live_session(&binding.session_id)?;
            let Some(row) = found.filter(|row| row.session.app_id == binding.app_id) else {
                return Err(refuse::session_not_found("the session has expired").into());
            };
            let at = job.at(&project)?;
            let delta = host_context(&row.session, observed.host_context.clone(), at)?;
            let delta = rule!(delta; HostContextUnstored => Default::default());
            job.commit(&project, Some(&row), &delta, Vec::new())?;
            Ok(())
        });
        recorded.await.map_err(|error: UnitError| error.into_failure_as(refuse::append_failed))
    }
}

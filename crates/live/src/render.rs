//! Rendering a UI: a session begins with it.

use std::sync::Arc;

use accord_base::{ActorKey, Caller, Need, ProjectId};
use accord_contract::{Failure, Object, Time, Value, rule};
use accord_live_core::session::{AskChange, Delta, Session, StreamChange};
use accord_live_core::tools::{HandshakeRequest, RenderAnswer, RenderBlueprintRequest};
use accord_live_core::tools::{
    RenderFacts, RenderRequest, Rendered, read, render, render_contract,
};
use accord_live_core::{AppId, SessionId, refuse};
use accord_live_core::{contract::CompiledContract, frame::ServerFrame, handshake::BlueprintKey};
use accord_store::BlueprintRow;

use super::unit::{Job, UnitResult};
use super::{Live, rows};

impl Live {
    /// Renders a UI. A render that is refused leaves its handshake usable. `asked_by` is who asks
    /// the person, for the ask of the session. Fails with `unauthorized`, `project_archived`, or
    /// the refusal of the first gate.
    pub async fn render(
        &self,
        caller: &Caller,
        app: &AppId,
        request: RenderRequest,
        asked_by: Option<ActorKey>,
    ) -> Result<RenderAnswer, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let session_id = SessionId::mint(accord_system::random());
        let rate_limit = self.inner.rates.take(app, self.now(), self.options().renders_per_minute);
        let contract = self.contract_of_render(&request).await?;
        let (live, app) = (self.clone(), app.clone());
        let rendered = self.write(move |job| {
            let stored = job.unit.live_handshake(&request.handshake_id)?;
            let handshake = stored.as_ref().map(rows::handshake).transpose()?;
            let known = match &handshake {
                Some(handshake) => job.unit.live_blueprint(&project, &handshake.key)?,
                None => None,
            };
            let known_code = match known.and_then(|known| known.code_hash) {
                Some(hash) => job.unit.live_code(&hash)?,
                None => None,
            };
            let options = live.options();
            let input_schema = |tool: &str| options.tools.get(tool);
            let themes: Vec<&str> = options.themes.iter().map(|theme| theme.id.as_str()).collect();
            let facts = RenderFacts {
                app_id: &app,
                handshake: handshake.as_ref(),
                contract: contract.clone(),
                themes: &themes,
                rate_limit: rate_limit.clone(),
                gadgets: &options.gadgets,
                public_env: &[],
                input_schema: &input_schema,
                policy: options.schema_policy,
                known_code: known_code.as_deref(),
                session_id: &session_id,
                asked_by: asked_by.clone(),
                at: job.at(&project)?,
            };
            let rendered = render(request.clone(), facts)?;
            // Nobody knows whose questions those of unknown actors are. They are limited by the
            // renders of a minute.
            if let Some(AskChange::Begin(ask)) = &rendered.delta.ask
                && ask.asked_by.is_some()
            {
                let now = rendered.session.head.created_at;
                job.check_asks(&project, ask.asked_by.as_ref(), now)?;
            }
            let frames = frames(&rendered.session, &rendered.delta);
            job.commit(&project, None, &rendered.delta, frames)?;
            let now = rendered.session.head.created_at;
            let other = request.overrides.as_ref().and_then(|named| named.variance.clone());
            let variance = other.or_else(|| handshake.as_ref().map(|made| made.variance.clone()));
            store_blueprint(job, &project, &rendered, variance, now)?;
            rule!(job.unit.remove_live_handshake(&rendered.used)?; HandshakesKept => false);
            Ok(rendered)
        });
        let rendered = rendered.await?;
        let (id, revision) = (&rendered.session.id, rendered.session.head.revision);
        self.inner.contracts.remember(id, revision, &rendered.contract);
        for finding in &rendered.findings {
            let (session, tool) = (&rendered.session.id, finding.tool.as_str());
            tracing::warn!(%session, tool, "a tool does not fit the contract");
        }
        Ok(rendered.answer)
    }

    /// The contract of a render, which is compiled here and not in the transaction.
    async fn contract_of_render(
        &self,
        request: &RenderRequest,
    ) -> Result<Option<Result<Arc<CompiledContract>, Failure>>, Failure> {
        let request = request.clone();
        let read = self.read(move |unit| {
            let stored = unit.live_handshake(&request.handshake_id)?;
            let handshake = stored.as_ref().map(rows::handshake).transpose()?;
            Ok(handshake.map(|handshake| render_contract(&request, &handshake)))
        });
        Ok(read.await?)
    }

    /// Renders a UI that was rendered before, by its id. Fails with `blueprint_not_found` when
    /// there is no such UI; else as [`Self::render`].
    pub async fn render_blueprint(
        &self,
        caller: &Caller,
        app: &AppId,
        request: RenderBlueprintRequest,
        asked_by: Option<ActorKey>,
    ) -> Result<RenderAnswer, Failure> {
        let project = self.enter(caller, app, Need::Write)?;
        let message = "no UI of this blueprintId was rendered in this project";
        let missing = || refuse::blueprint_not_found(message);
        let key = BlueprintKey::parse(&request.blueprint_id).ok_or_else(missing)?;
        let found = self.read(move |unit| {
            let row = unit.live_blueprint(&project, &key)?;
            row.map(|row| Ok((rows::blueprint_contract(&row)?, row.intent))).transpose()
        });
        let (made_from, intent) = found.await?.ok_or_else(missing)?;
        let mut asked = Object::new();
        asked.insert("intent".into(), intent.into());
        asked.insert("blueprintDraft".into(), Value::Object(made_from));
        let made = self.handshake(caller, app, read::<HandshakeRequest>(asked)?).await?;
        let mut asked = Object::new();
        asked.insert("handshakeId".into(), made.handshake_id.as_str().into());
        asked.insert("props".into(), Value::Object(request.props));
        if let Some(theme) = request.theme_id {
            asked.insert("themeId".into(), theme.into());
        }
        self.render(caller, app, read::<RenderRequest>(asked)?, asked_by).await
    }
}

/// Stores the UI, so that a later handshake finds it.
fn store_blueprint(
    job: &mut Job<'_>,
    project: &ProjectId,
    rendered: &Rendered,
    variance: Option<Object>,
    at: Time,
) -> UnitResult<()> {
    let blueprint = &rendered.blueprint;
    let made_from = serde_json::json!({
        "contract": rendered.contract.contract().document(),
        "variance": variance.unwrap_or_default(),
    });
    job.unit.put_live_blueprint(&BlueprintRow {
        project_id: project.clone(),
        key: blueprint.key.clone(),
        code_hash: blueprint.code_hash.clone(),
        intent: blueprint.intent.clone(),
        at,
        text: made_from.to_string(),
    })?;
    Ok(())
}

/// The frames of the stream that a delta keeps.
pub(crate) fn frames(session: &Session, delta: &Delta) -> Vec<ServerFrame> {
    let kept = delta.stream.iter().filter_map(|change| match change {
        StreamChange::Keep(_, row) => Some(row.clone()),
        StreamChange::Evict(_) => None,
    });
    kept.map(|row| ServerFrame::Data { session_id: session.id.clone(), row }).collect()
}

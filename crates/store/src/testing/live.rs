//! Random writes and reads of live sessions. A step keeps the counters of its session, so that an
//! audit finds nothing.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_live_core::handshake::BlueprintKey;
use accord_live_core::session::{Ask, DedupKey, Head, Session};
use accord_live_core::{AppId, HandshakeId, SessionId};

use super::Generator;
use super::queries::{all_pages, lines as listed};
use crate::{
    BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LivePart, LiveSessionQuery,
    LiveSessionRow, ReadUnit, Result, WriteUnit,
};

/// Kept frames of a session, so that some are evicted.
const RING: u32 = 3;

/// One change of a live session, or of what belongs to none.
#[derive(Clone, Debug)]
pub(super) struct LiveStep {
    session: SessionId,
    project: ProjectId,
    at: Time,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Begin,
    Append { text: String, event_id: Option<String>, key: Option<DedupKey> },
    Emit { channel: String, is_latest: bool, text: String },
    Content(LivePart, String),
    Ask(Option<Ask>),
    Clear,
    Sweep,
    InsertHandshake(HandshakeRow),
    RemoveHandshake(HandshakeId),
    TrimHandshakes,
    Blueprint(BlueprintRow),
    Code(String, String),
}

impl LiveStep {
    pub(super) fn random(generator: &mut Generator) -> Self {
        let (session, project) = (session(generator), generator.project());
        let at = time(generator);
        let change = match generator.random.below(25) {
            0..=4 => Change::Begin,
            5..=8 => {
                let (named, keyed) = (generator.random.one_in(2), generator.random.one_in(2));
                Change::Append {
                    text: generator.words(2),
                    event_id: named.then(|| format!("e{}", generator.random.below(12))),
                    key: keyed.then(|| DedupKey::identified(&key_name(generator))),
                }
            }
            9..=12 => Change::Emit {
                channel: generator.name(),
                is_latest: generator.random.one_in(3),
                text: generator.words(2),
            },
            13..=17 => Change::Content(part(generator), generator.words(3)),
            18 | 19 => {
                let (asks, known) = (!generator.random.one_in(3), generator.random.one_in(2));
                let ask = Ask {
                    asked_by: known.then(|| generator.actor()),
                    intent: generator.words(2),
                    since: time(generator),
                };
                Change::Ask(asks.then_some(ask))
            }
            20 if generator.random.one_in(3) => Change::Clear,
            20 => Change::Sweep,
            21 => Change::InsertHandshake(HandshakeRow {
                project_id: project.clone(),
                handshake_id: handshake(generator),
                expires_at: at,
                text: generator.words(2),
            }),
            22 if generator.random.one_in(4) => Change::TrimHandshakes,
            22 => Change::RemoveHandshake(handshake(generator)),
            23 => Change::Blueprint(BlueprintRow {
                project_id: project.clone(),
                key: key(generator),
                code_hash: generator.random.one_in(2).then(|| generator.name()),
                intent: generator.words(2),
                at,
                text: generator.words(2),
            }),
            // The text of a hash is always the same.
            _ => {
                let hash = generator.name();
                Change::Code(hash.clone(), format!("code {hash}"))
            }
        };
        Self { session, project, at, change }
    }

    /// Whether a store accepts the step.
    pub(super) fn fits(&self, unit: &dyn WriteUnit) -> Result<bool> {
        let stored = unit.live_session(&self.session)?;
        let is_used =
            stored.is_some_and(|row| !row.session.head.is_ended && row.project_id.is_some());
        let there = unit.project(&self.project)?.is_some();
        Ok(match &self.change {
            Change::Begin | Change::Blueprint(_) | Change::Code(..) => there,
            Change::Append { key, .. } => {
                let same = key.as_ref().map(|key| unit.live_event(&self.session, key));
                is_used && same.transpose()?.flatten().is_none()
            }
            Change::Emit { .. } | Change::Content(..) | Change::Ask(_) | Change::Sweep => is_used,
            Change::InsertHandshake(row) => {
                there && unit.live_handshake(&row.handshake_id)?.is_none()
            }
            Change::Clear | Change::RemoveHandshake(_) | Change::TrimHandshakes => true,
        })
    }

    pub(super) fn take(&self, unit: &mut dyn WriteUnit) -> Result<String> {
        let id = &self.session;
        match &self.change {
            Change::Begin => return self.begin(unit).map(|version| version.to_string()),
            Change::Append { text, event_id, key } => {
                let mut row = self.row(unit)?;
                row.head.ledger += 1;
                let entry = LedgerEntry {
                    seq: row.head.ledger,
                    at: self.at,
                    kind: "x-event".to_owned(),
                    text: text.clone(),
                    event_id: event_id.clone(),
                    key: key.as_ref().map(|key| key.as_str().to_owned()),
                };
                unit.append_live_event(id, &entry)?;
                return self.put(unit, &row);
            }
            Change::Emit { channel, is_latest, text } => {
                let mut row = self.row(unit)?;
                row.head.stream += 1;
                let entry = FrameEntry {
                    seq: row.head.stream,
                    channel: channel.clone(),
                    is_latest: *is_latest,
                    text: text.clone(),
                };
                unit.put_live_frame(id, &entry)?;
                if !is_latest {
                    row.head.ring += 1;
                }
                if row.head.ring > RING {
                    let oldest = unit.oldest_live_frame(id)?.expect("a kept frame");
                    unit.remove_live_frame(id, oldest)?;
                    row.head.ring = RING;
                    row.head.evicted = oldest;
                }
                return self.put(unit, &row);
            }
            Change::Content(part, text) => unit.put_live_content(id, *part, text)?,
            Change::Ask(ask) => {
                let mut row = self.row(unit)?;
                row.head.is_asking = ask.is_some();
                unit.put_live_ask(id, ask.as_ref())?;
                return self.put(unit, &row);
            }
            Change::Clear => {
                unit.clear_live_session(id)?;
                if let Some(row) = unit.live_session(id)?
                    && let Some(project) = &row.project_id
                    && !row.session.head.is_ended
                {
                    let mut session = row.session;
                    session.head = session.head.reborn(self.at, 60);
                    unit.put_live_session(project, &session)?;
                }
            }
            Change::Sweep => {
                let mut row = self.row(unit)?;
                (row.head.is_ended, row.head.is_asking) = (true, false);
                unit.clear_live_session(id)?;
                return self.put(unit, &row);
            }
            Change::InsertHandshake(row) => unit.insert_live_handshake(row)?,
            Change::RemoveHandshake(id) => {
                return Ok(unit.remove_live_handshake(id)?.to_string());
            }
            Change::TrimHandshakes => {
                return Ok(unit.trim_live_handshakes(self.at)?.to_string());
            }
            Change::Blueprint(row) => unit.put_live_blueprint(row)?,
            Change::Code(hash, text) => unit.put_live_code(&self.project, hash, text)?,
        }
        Ok(String::new())
    }

    /// A new session, or one that continues the counters of an earlier one.
    fn begin(&self, unit: &mut dyn WriteUnit) -> Result<u64> {
        let stored = unit.live_session(&self.session)?;
        let head = match &stored {
            Some(row) => row.session.head.reborn(self.at, 60),
            None => Head::new(self.at, 60),
        };
        let app_id = AppId::new(self.project.as_str()).expect("an id");
        let session = Session { id: self.session.clone(), app_id, head };
        let version = unit.put_live_session(&self.project, &session)?;
        unit.clear_live_session(&self.session)?;
        let found = unit.live_session(&self.session)?.expect("the row");
        assert_eq!((found.version, &found.session), (version, &session));
        assert_eq!(version, stored.map_or(0, |row| row.version) + 1);
        Ok(version)
    }

    /// The stored session, or one that no store has.
    fn row(&self, unit: &dyn WriteUnit) -> Result<Session> {
        let stored = unit.live_session(&self.session)?.map(|row| row.session);
        let app_id = AppId::new("none").expect("an id");
        let head = Head::new(self.at, 60);
        Ok(stored.unwrap_or(Session { id: self.session.clone(), app_id, head }))
    }

    fn put(&self, unit: &mut dyn WriteUnit, session: &Session) -> Result<String> {
        let stored = unit.live_session(&self.session)?;
        let owner = stored.and_then(|row| row.project_id).unwrap_or_else(|| self.project.clone());
        Ok(unit.put_live_session(&owner, session)?.to_string())
    }
}

/// Everything about live sessions, as lines.
pub(super) fn everything<U: ReadUnit + ?Sized>(unit: &U) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for number in 0..SESSIONS {
        let id = numbered(number);
        let Some(row) = unit.live_session(&id)? else { continue };
        lines.push(format!("{row:?} {:?}", unit.live_ask(&id)?));
        for part in PARTS {
            lines.extend(unit.live_content(&id, part)?.map(|text| format!("{part:?} {text}")));
        }
        let ledger = unit.live_ledger(&id, 0, usize::MAX)?;
        for name in 0..KEYS {
            let key = DedupKey::identified(&name.to_string());
            let keyed = ledger.iter().find(|entry| entry.key.as_deref() == Some(key.as_str()));
            assert_eq!(unit.live_event(&id, &key)?.as_ref(), keyed);
        }
        let piped: Vec<_> = ledger.iter().filter(|row| row.event_id.is_some()).cloned().collect();
        assert_eq!(unit.live_pipe(&id, 0, usize::MAX)?, piped);
        lines.extend(listed(ledger));
        lines.push(format!("oldest {:?}", unit.oldest_live_frame(&id)?));
        lines.extend(listed(unit.live_frames(&id, 0, usize::MAX)?));
    }
    for number in 0..HANDSHAKES {
        let row = unit.live_handshake(&handshake_numbered(number))?;
        lines.extend(row.map(|row| format!("{row:?}")));
    }
    for hash in super::generator::NAMES {
        lines.extend(unit.live_code(hash)?);
    }
    Ok(lines)
}

/// What a project has of live sessions, page by page.
pub(super) fn of_project<U: ReadUnit + ?Sized>(
    unit: &U,
    project: &ProjectId,
    at: Time,
    length: usize,
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for active_at in [None, Some(at)] {
        lines.extend(listed(all_pages(length, |rows: &[LiveSessionRow]| {
            let after = rows.last().map(|row| (row.session.head.created_at, &row.session.id));
            unit.live_sessions(project, &LiveSessionQuery { active_at, after, limit: length })
        })?));
    }
    lines.extend(listed(all_pages(length, |rows: &[(LiveSessionRow, Ask)]| {
        let after = rows.last().map(|(row, ask)| (ask.since, &row.session.id));
        unit.live_asks(project, at, after, length)
    })?));
    lines.extend(listed(unit.expired_live_sessions(at, length)?));
    for row in unit.live_blueprints(project, length)? {
        assert_eq!(unit.live_blueprint(project, &row.key)?.as_ref(), Some(&row));
        lines.push(format!("{row:?}"));
    }
    Ok(lines)
}

/// The events and frames of a session after a number, a few of each.
pub(super) fn of_session<U: ReadUnit + ?Sized>(
    unit: &U,
    session: &SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<String>> {
    let mut lines = listed(unit.live_ledger(session, after, limit)?);
    lines.extend(listed(unit.live_pipe(session, after, limit)?));
    lines.extend(listed(unit.live_frames(session, after, limit)?));
    Ok(lines)
}

const SESSIONS: usize = 4;
const HANDSHAKES: usize = 3;
const KEYS: usize = 9;
const PARTS: [LivePart; 7] = [
    LivePart::Ui,
    LivePart::Props(0),
    LivePart::Props(1),
    LivePart::HostContext,
    LivePart::Context,
    LivePart::Returned,
    LivePart::Closed,
];

/// One of few live sessions.
pub(super) fn session(generator: &mut Generator) -> SessionId {
    numbered(generator.random.below(SESSIONS))
}

/// A time with milliseconds.
pub(super) fn time(generator: &mut Generator) -> Time {
    // Far enough from the ends of time, so that an expiry is not cut.
    Time::from_unix_millis(generator.time().time().unix_millis().clamp(0, 2_000_000_000_000))
}

fn numbered(number: usize) -> SessionId {
    SessionId::new(format!("live {number}")).expect("an id")
}

fn handshake(generator: &mut Generator) -> HandshakeId {
    handshake_numbered(generator.random.below(HANDSHAKES))
}

fn handshake_numbered(number: usize) -> HandshakeId {
    HandshakeId::new(format!("hs {number}")).expect("an id")
}

fn part(generator: &mut Generator) -> LivePart {
    generator.random.pick(&PARTS)
}

fn key_name(generator: &mut Generator) -> String {
    generator.random.below(KEYS).to_string()
}

fn key(generator: &mut Generator) -> BlueprintKey {
    BlueprintKey { contract_hash: generator.name(), variant_key: generator.name() }
}

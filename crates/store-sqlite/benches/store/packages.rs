//! Packages of about 1.4 kB, as agents write them.

use accord_base::{ActorId, ActorKey, ActorType, ProjectId, SessionId};
use accord_contract::{Time, Timestamp};
use accord_memory_core::bundle::Outline;
use accord_memory_core::package::{PackageType, ReviewType, Significance, Status};
use accord_memory_core::{ContentHash, FactId, PackageId};
use accord_store::testing::Random;
use accord_store::{
    EventEntry, FactRow, PackageIndex, PackageRow, PackageState, ProjectRow, Result, RevisionRow,
    WriteUnit,
};

/// The instant up to which packages are made.
pub(crate) const NOW: i64 = 1_790_000_000_000;

/// How long a window is.
const WINDOW: i64 = 14 * 24 * 3600 * 1000;

/// A package and everything that is written with it.
#[derive(Clone)]
pub(crate) struct Deposit {
    pub(crate) row: PackageRow,
    pub(crate) index: PackageIndex,
    pub(crate) revision: RevisionRow,
    pub(crate) event: EventEntry,
}

pub(crate) fn project() -> ProjectRow {
    let project_id = ProjectId::new("proj_benchmark").expect("an id");
    ProjectRow {
        conformance: false,
        text: format!(r#"{{"project_id":"{project_id}","name":"Benchmark","description":""}}"#),
        project_id,
        created_at: time(0),
        archived_at: None,
    }
}

/// The package of a number out of `count`, all of which lie in one window.
pub(crate) fn deposit(number: usize, count: usize) -> Deposit {
    let mut random = Random::new(number as u64);
    let at = NOW - WINDOW + 1 + (number as i64 * (WINDOW - 2)) / count.max(1) as i64;
    let created_at = time(at);
    let package_id = PackageId::mint(bytes(&mut random));
    let actor = ActorKey {
        id: ActorId::new(format!("agent-{}", random.below(8))).expect("an id"),
        kind: ActorType::Agent,
    };
    let session = SessionId::new(format!("sess_{:032x}", random.below(500))).expect("an id");
    let mut body = words(&mut random, 110);
    // Two words that each stand in one of twenty packages.
    if number % 20 == 3 {
        body.push_str(" zebra");
    }
    if number % 20 == 11 || number % 400 == 3 {
        body.push_str(" walrus");
    }
    let (title, decisions) = (words(&mut random, 7), words(&mut random, 34));
    let handoff = words(&mut random, 18);
    let questions =
        [format!("{}?", words(&mut random, 8)), format!("Is step {} done?", random.below(50))];
    let parts = [&title, &decisions, &questions.join("\n"), &handoff, &body];
    let index = PackageIndex::of_parts(parts.map(String::as_str), &questions);
    let [first, second] = questions;
    let project = project().project_id;
    let text = format!(
        "{{\"package_id\":\"{package_id}\",\"project_id\":\"{project}\",\
         \"relay_version\":\"0.1\",\"title\":\"{title}\",\"status\":\"complete\",\
         \"package_type\":\"standard\",\"review_type\":\"none\",\"created_at\":\"{created_at}\",\
         \"created_by\":{{\"id\":\"{}\",\"type\":\"agent\",\"session_id\":\"{session}\"}},\
         \"tags\":[\"benchmark\",\"store\"],\"decisions_made\":[\"{decisions}\"],\
         \"open_questions\":[\"{first}\",\"{second}\"],\"handoff_note\":\"{handoff}\",\
         \"significance\":5,\"content_md\":\"{body}\"}}",
        actor.id,
    );
    // A number for a hash: no benchmark of digests.
    let hash = ContentHash::from(accord_canon::Digest::from(wide(&mut random)));
    Deposit {
        revision: RevisionRow {
            seq: 1,
            text: format!(
                "{{\"seq\":1,\"status\":\"complete\",\"review_type\":\"none\",\
                 \"content_hash\":\"{hash}\",\"actor\":null,\"note\":null,\
                 \"at\":\"{created_at}\"}}"
            ),
        },
        event: EventEntry {
            at: created_at.clone(),
            kind: "package.deposited".to_owned(),
            only_for: None,
            text: format!(
                "{{\"package_id\":\"{package_id}\",\"title\":\"{title}\",\
                 \"package_type\":\"standard\",\"status\":\"complete\",\
                 \"content_hash\":\"{hash}\"}}"
            ),
        },
        row: PackageRow {
            project_id: project,
            package_id,
            seq: 0,
            deposited_at: created_at.clone(),
            created_at,
            actor,
            session_id: Some(session),
            package_type: PackageType::parse("standard").expect("a type"),
            significance: Significance::DEFAULT,
            outline: Outline::default(),
            deposited_hash: hash,
            quarantine: None,
            state: PackageState {
                revision: 1,
                status: Status::Complete,
                review_type: ReviewType::None,
                has_note: false,
                content_hash: hash,
                text,
            },
        },
        index,
    }
}

/// Writes a package as a service does: look first, then write, with its event.
pub(crate) fn write(unit: &mut dyn WriteUnit, deposit: &Deposit) -> Result<u64> {
    let row = &deposit.row;
    if unit.project(&row.project_id)?.is_none() {
        unit.insert_project(&project())?;
    }
    if unit.package(&row.project_id, &row.package_id)?.is_some() {
        return Ok(0);
    }
    unit.insert_package(row, &deposit.index, std::slice::from_ref(&deposit.revision))?;
    unit.append_event(&row.project_id, &deposit.event)
}

/// A fact that holds.
pub(crate) fn fact(number: usize) -> FactRow {
    let mut random = Random::new(number as u64);
    let fact_id = FactId::mint(bytes(&mut random));
    let value = words(&mut random, 3);
    FactRow {
        project_id: project().project_id,
        text: format!(r#"{{"fact_id":"{fact_id}","value":"{value}","confidence":1.0,"tags":[]}}"#),
        fact_id,
        seq: 0,
        subject: format!("subject {number}"),
        predicate: "status".to_owned(),
        value,
        valid_from: time(NOW - number as i64 * 1000),
        valid_to: None,
        created_at: time(NOW),
    }
}

pub(crate) fn since() -> Time {
    Time::from_unix_millis(NOW - WINDOW)
}

fn time(millis: i64) -> Timestamp {
    Timestamp::emit(Time::from_unix_millis(millis))
}

/// Words as texts have them: few that are common, many that are rare.
fn words(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let rank = random.below(1000) * random.below(1000) / 40;
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(&format!("w{}", radix(rank)));
    }
    text
}

fn radix(mut number: usize) -> String {
    let mut letters = String::new();
    loop {
        letters.push(char::from(b'a' + (number % 21) as u8));
        number /= 21;
        if number == 0 {
            return letters;
        }
    }
}

fn bytes(random: &mut Random) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&random.number().to_le_bytes());
    bytes[8..].copy_from_slice(&random.number().to_le_bytes());
    bytes
}

fn wide(random: &mut Random) -> [u8; 32] {
    let mut wide = [0; 32];
    wide[..16].copy_from_slice(&bytes(random));
    wide[16..].copy_from_slice(&bytes(random));
    wide
}

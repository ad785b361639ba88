//! Who may do what: every kind of caller, in whose name, for every need. The table is written by
//! hand.

use std::collections::BTreeSet;

use accord_base::policy::{Attribution, CallerKind, DecisionRules, Question, decide};
use accord_base::worker::{Ancestor, Ancestry, find_worker};
use accord_base::{
    Actor, ActorKey, Author, Caller, CallerProcess, Decision, KeyScope, KnownBy, Need, Presence,
    Verb,
};

/// `yes`; `page`, `key`, `tty`, `bare` (yes, and the record says that the person is known by a
/// login, a key, a terminal or not at all); `w` (`not_for_workers`), `p` (`person_required`), `t`
/// (`confirmation_needed`).
///
/// The columns are a person, an agent, a script and nobody, each in turn as a claimed and as a
/// proven author. An asterisk stands for every need or caller that has no line of its own.
const TABLE: &str = "
read             *              yes  yes   yes  yes   yes  yes   yes  yes

write            login          yes  yes   yes  yes   yes  yes   yes  yes
write            person-key     yes  yes   yes  yes   yes  yes   yes  yes
write            person-act-as  yes  yes   yes  yes   yes  yes   yes  yes
write            act-as-key     yes  p     yes  yes   yes  yes   yes  yes
write            agent-key      yes  p     yes  yes   yes  yes   yes  yes
write            plain-key      yes  p     yes  yes   yes  yes   yes  yes
write            token          yes  p     yes  yes   yes  yes   yes  yes
write            terminal       yes  yes   yes  yes   yes  yes   yes  yes
write            script         yes  yes   yes  yes   yes  yes   yes  yes
write            hub            yes  yes   yes  yes   yes  yes   yes  yes
write            loopback       yes  yes   yes  yes   yes  yes   yes  yes
write            other-user     w    w     yes  yes   yes  w     yes  yes
write            worker         w    w     yes  yes   yes  w     yes  yes
write            unexamined     w    w     yes  yes   yes  w     yes  yes
write            scheduler      p    p     yes  yes   yes  p     yes  yes

create           loopback       yes  yes   yes  yes   yes  yes   yes  yes
create           *              as admin

join             act-as-key     p    p     p    p     p    p     p    p
join             agent-key      p    p     p    p     p    p     p    p
join             plain-key      p    p     p    p     p    p     p    p
join             token          p    p     p    p     p    p     p    p
join             other-user     w    w     w    w     w    w     w    w
join             worker         w    w     w    w     w    w     w    w
join             unexamined     w    w     w    w     w    w     w    w
join             *              as create

admin            loopback       w    w     w    w     w    w     w    w
admin            other-user     w    w     w    w     w    w     w    w
admin            worker         w    w     w    w     w    w     w    w
admin            unexamined     w    w     w    w     w    w     w    w
admin            *              as write

peer-review      login          page page  yes  yes   yes  yes   yes  yes
peer-review      person-key     key  key   yes  yes   yes  yes   yes  yes
peer-review      person-act-as  key  key   yes  yes   yes  yes   yes  yes
peer-review      act-as-key     bare p     yes  yes   yes  yes   yes  yes
peer-review      agent-key      bare p     yes  yes   yes  yes   yes  yes
peer-review      plain-key      bare p     yes  yes   yes  yes   yes  yes
peer-review      token          bare p     yes  yes   yes  yes   yes  yes
peer-review      terminal       tty  tty   yes  yes   yes  yes   yes  yes
peer-review      script         bare bare  yes  yes   yes  yes   yes  yes
peer-review      hub            key  key   yes  yes   yes  yes   yes  yes
peer-review      loopback       w    w     yes  yes   yes  yes   yes  yes
peer-review      other-user     w    w     yes  yes   yes  w     yes  yes
peer-review      worker         w    w     yes  yes   yes  w     yes  yes
peer-review      unexamined     w    w     yes  yes   yes  w     yes  yes
peer-review      scheduler      p    p     yes  yes   yes  p     yes  yes

approve          login          page page  p    p     p    p     p    p
approve          person-key     key  key   p    p     p    p     p    p
approve          person-act-as  key  key   p    p     p    p     p    p
approve          act-as-key     p    p     p    p     p    p     p    p
approve          agent-key      p    p     p    p     p    p     p    p
approve          plain-key      p    p     p    p     p    p     p    p
approve          token          p    p     p    p     p    p     p    p
approve          terminal       tty  tty   p    p     p    p     p    p
approve          script         bare bare  p    p     p    p     p    p
approve          hub            key  key   p    p     p    p     p    p
approve          loopback       w    w     w    w     w    w     w    w
approve          other-user     w    w     w    w     w    w     w    w
approve          worker         w    w     w    w     w    w     w    w
approve          unexamined     w    w     w    w     w    w     w    w
approve          scheduler      p    p     p    p     p    p     p    p

review           *              as approve

answer           login          page page  yes  yes   yes  yes   yes  yes
answer           person-key     key  key   yes  yes   yes  yes   yes  yes
answer           person-act-as  key  key   yes  yes   yes  yes   yes  yes
answer           act-as-key     bare p     yes  yes   yes  yes   yes  yes
answer           agent-key      bare p     yes  yes   yes  yes   yes  yes
answer           plain-key      bare p     yes  yes   yes  yes   yes  yes
answer           token          bare p     yes  yes   yes  yes   yes  yes
answer           terminal       tty  tty   yes  yes   yes  yes   yes  yes
answer           script         bare bare  yes  yes   yes  yes   yes  yes
answer           hub            key  key   yes  yes   yes  yes   yes  yes
answer           loopback       w    w     yes  yes   yes  yes   yes  yes
answer           other-user     w    w     w    w     w    w     w    w
answer           worker         w    w     w    w     w    w     w    w
answer           unexamined     w    w     w    w     w    w     w    w
answer           scheduler      p    p     p    p     p    p     p    p

person-answer    *              as approve

grant            loopback       w    w     w    w     w    w     w    w
grant            *              as answer
sign-in          act-as-key     bare bare  yes  yes   yes  yes   yes  yes
sign-in          *              as grant
override         *              as grant
";

const NEEDS: [(&str, Need); 13] = [
    ("read", Need::Read),
    ("write", Need::Write),
    ("create", Need::Create),
    ("join", Need::Join),
    ("admin", Need::Admin),
    ("peer-review", Need::Decide(Decision::PeerReview)),
    ("approve", Need::Decide(Decision::Approve)),
    ("review", Need::Decide(Decision::Review)),
    ("answer", Need::Decide(Decision::Answer)),
    ("person-answer", Need::Decide(Decision::PersonAnswer)),
    ("grant", Need::Decide(Decision::Grant)),
    ("sign-in", Need::Decide(Decision::SignIn)),
    ("override", Need::Decide(Decision::Override)),
];

fn callers() -> [(&'static str, CallerKind); 15] {
    let marks = vec![("ACCORD_TASK_ID".to_owned(), "TASK-2026-02-09-001".to_owned())];
    let process = Ancestor { pid: 7, marks, is_supervisor: false };
    let worker = Ancestry { processes: vec![process], has_terminal: true, os_user: None };
    let worker = find_worker(&worker, &[]).expect("a worker");
    [
        ("login", CallerKind::Login),
        ("person-key", CallerKind::PersonKey),
        ("person-act-as", CallerKind::ActAsKey { is_person: true }),
        ("act-as-key", CallerKind::ActAsKey { is_person: false }),
        ("agent-key", CallerKind::AgentKey),
        ("plain-key", CallerKind::PlainKey),
        ("token", CallerKind::SessionToken),
        ("terminal", CallerKind::LocalProcess { at_terminal: true }),
        ("script", CallerKind::LocalProcess { at_terminal: false }),
        ("hub", CallerKind::Hub(KnownBy::Key)),
        ("loopback", CallerKind::Loopback),
        ("other-user", CallerKind::OtherUser),
        ("worker", CallerKind::Worker(worker)),
        ("unexamined", CallerKind::Unexamined),
        ("scheduler", CallerKind::Scheduler),
    ]
}

/// The words of a line of the table.
fn line<'t>(need: &'t str, caller: &'t str) -> Vec<&'t str> {
    let rows = || TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of = |wanted: &str| rows().find(|row| row.starts_with(&[need, wanted]));
    let row = of(caller).or_else(|| of("*"));
    let row = row.unwrap_or_else(|| panic!("no line for {need} {caller}"));
    match row[2] {
        "as" => line(row[3], caller),
        _ => row[2..].to_vec(),
    }
}

fn actor(name: &str) -> Option<Actor> {
    let key = ActorKey::parse(name).ok()?;
    Some(Actor::new(key.id, key.kind))
}

fn outcome(question: &Question<'_>) -> &'static str {
    match decide(question) {
        Ok(None) => "yes",
        Ok(Some(KnownBy::Login)) => "page",
        Ok(Some(KnownBy::Key)) => "key",
        Ok(Some(KnownBy::Terminal)) => "tty",
        Ok(Some(KnownBy::Nothing)) => "bare",
        Err(refused) => match refused.code.as_str() {
            "not_for_workers" => "w",
            "person_required" => "p",
            "confirmation_needed" => "t",
            other => panic!("{other}: {}", refused.message),
        },
    }
}

#[test]
fn the_policy_is_the_table() {
    let mut cells = 0;
    for (need_name, need) in NEEDS {
        for (caller_name, caller) in &callers() {
            let expected = line(need_name, caller_name);
            let mut found = Vec::new();
            for name in ["human:lead", "agent:dev", "script:nightly", ""] {
                for attribution in [Attribution::Claimed, Attribution::Proven] {
                    let (actor, rules) = (actor(name), DecisionRules::default());
                    let actor = actor.as_ref();
                    found.push(outcome(&Question { need, caller, actor, attribution, rules }));
                }
            }
            assert_eq!(found, expected, "{need_name} {caller_name}");
            cells += found.len();
        }
    }
    assert_eq!(cells, NEEDS.len() * 15 * 8);
}

#[test]
fn every_decision_has_lines() {
    let names: BTreeSet<&str> = NEEDS.iter().map(|(name, _)| *name).collect();
    let first = |line: &'static str| line.split_whitespace().next();
    let in_table: BTreeSet<&str> = TABLE.lines().filter_map(first).collect();
    assert_eq!(names, in_table);
}

/// An operator can require a terminal. A login and a key are enough.
#[test]
fn a_terminal_can_be_required() {
    let rules = DecisionRules { terminal_required: true };
    let actor = actor("human:lead");
    for (name, caller) in &callers() {
        for decision in [Decision::Approve, Decision::Review] {
            let question = |rules| Question {
                need: Need::Decide(decision),
                caller,
                actor: actor.as_ref(),
                attribution: Attribution::Proven,
                rules,
            };
            let usual = outcome(&question(DecisionRules::default()));
            let expected = if usual == "bare" { "t" } else { usual };
            assert_eq!(outcome(&question(rules)), expected, "{name}");
        }
    }
}

/// Who decides, as the record says it: the key behind a key or a login, the user at a terminal.
#[test]
fn the_record_of_a_decision_names_the_key_or_the_user() {
    let lead = ActorKey::parse("human:lead").expect("an actor");
    let scope = KeyScope::new(vec![Verb::Approve], None).bound_to(lead, false);
    let process = Ancestor { pid: 7, ..Ancestor::default() };
    let os_user = Some("ada".to_owned());
    let seen = Ancestry { processes: vec![process], has_terminal: true, os_user };
    let at_terminal = Caller::owner().examined_by(move || CallerProcess::Seen(vec![seen.clone()]));
    for (caller, known_by, key_id, os_user) in [
        (Caller::key("k1", &scope), KnownBy::Key, Some("k1"), None),
        (Caller::key("k1", &scope).signed_in(), KnownBy::Login, Some("k1"), None),
        (Caller::owner().signed_in(), KnownBy::Login, None, None),
        (at_terminal.clone().saying_terminal(true), KnownBy::Terminal, None, Some("ada")),
        (at_terminal, KnownBy::Nothing, None, Some("ada")),
    ] {
        let author = Author::proven(actor("human:lead"), "/actor");
        let authorized = caller.attribute(Need::Decide(Decision::Approve), author).expect("yes");
        let presence = authorized.presence;
        assert_eq!(presence.known_by, Some(known_by), "{caller:?}");
        let found = (presence.key_id.as_deref(), presence.os_user.as_deref());
        assert_eq!(found, (key_id, os_user), "{caller:?}");
        let written = caller.attribute(Need::Write, Author::unnamed()).expect("yes");
        assert_eq!(written.presence, Presence::default());
    }
}

//! Tests of links and logins.

use accord_base::ProjectId;
use accord_store::ModelStore;

use super::linked::NewLink;
use super::*;

/// The logins of a host, and those of the host after a restart.
fn twice() -> (Logins, Logins) {
    let units = Units::new(Arc::new(ModelStore::new()));
    let logins = || Logins::new(Path::new("/"), &units);
    (logins(), logins())
}

fn logins() -> Logins {
    twice().0
}

fn at(seconds: i64) -> Time {
    Time::from_unix(1_800_000_000 + seconds, 0).unwrap()
}

fn halves(cookie: &str, secret: &str) -> Halves {
    Halves::new([cookie].into_iter(), secret)
}

async fn begun(logins: &Logins, seconds: i64) -> (Begun, Halves) {
    let begun = logins.begin(Holder::Owner.into(), at(seconds)).await.unwrap();
    let halves = halves(&begun.cookie, &begun.secret);
    (begun, halves)
}

async fn finds(logins: &Logins, halves: &Halves, seconds: i64) -> bool {
    logins.find(halves, at(seconds)).await.unwrap().is_some()
}

#[test]
fn a_link_works_once_and_until_it_expires() {
    let logins = logins();
    let (link, until) = logins.mint_link(Holder::Owner.into(), at(0), 60);
    assert_eq!(until, at(60));
    assert!(logins.use_link("other", at(1)).is_err());
    assert_eq!(logins.use_link(&link, at(59)).unwrap(), Holder::Owner.into());
    let again = logins.use_link(&link, at(59)).unwrap_err();
    assert_eq!(again.code, Code::LoginLinkInvalid);
    let (late, _) = logins.mint_link(Holder::Owner.into(), at(0), 60);
    assert!(logins.use_link(&late, at(60)).is_err());
    assert!(logins.use_link(&late, at(0)).is_err(), "an attempt uses it up");
}

#[tokio::test]
async fn a_login_needs_both_halves() {
    let logins = logins();
    let (one, both) = begun(&logins, 0).await;
    let (other, both_of_other) = begun(&logins, 0).await;
    assert!(finds(&logins, &both, 1).await);
    for (cookie, secret) in [
        (one.cookie.as_str(), other.secret.as_str()),
        (&one.cookie, ""),
        ("", &one.secret),
        (&one.secret, &one.cookie),
    ] {
        assert!(!finds(&logins, &halves(cookie, secret), 1).await);
    }
    // A cookie that a page of another port added does not hide the right one.
    let two = Halves::new(["planted", one.cookie.as_str()].into_iter(), &one.secret);
    assert!(finds(&logins, &two, 1).await);
    logins.end(&halves(&one.cookie, &other.secret)).await.unwrap();
    assert!(finds(&logins, &two, 1).await, "one half ends nothing");
    logins.end(&two).await.unwrap();
    assert!(!finds(&logins, &two, 1).await);
    assert!(finds(&logins, &both_of_other, 1).await);
}

#[tokio::test]
async fn a_login_outlasts_a_restart_and_a_link_does_not() {
    let (before, after) = twice();
    for holder in [Holder::Owner, Holder::Local, Holder::Key("key_1".to_owned())] {
        let actor = ActorKey::parse("human:lead").ok();
        let person = Person { holder: holder.clone(), actor };
        let begun = before.begin(person.clone(), at(0)).await.unwrap();
        let halves = halves(&begun.cookie, &begun.secret);
        let found = after.find(&halves, at(1)).await.unwrap();
        let (found, login) = found.unwrap();
        assert_eq!(found, holder);
        assert_eq!(after.opened(&login, at(1)).await.unwrap(), Some(person));
        after.end(&halves).await.unwrap();
        assert_eq!(before.find(&halves, at(1)).await.unwrap(), None);
    }
    let (link, _) = before.mint_link(Holder::Owner.into(), at(0), 60);
    assert!(after.use_link(&link, at(1)).is_err());
}

/// A link of a person, stored.
async fn linked(logins: &Logins, person: &str, seconds: i64) -> String {
    let question = LinkedQuestion {
        person: person.to_owned(),
        project: ProjectId::new("shop").unwrap(),
        session: "live_1".to_owned(),
        since: 7,
    };
    let link = NewLink::to(question, at(seconds));
    let secret = link.secret.clone();
    logins.units.write(move |unit| link.put(unit)).await.unwrap();
    secret
}

#[tokio::test]
async fn a_link_of_a_person_outlasts_a_restart_and_works_once_within_a_day() {
    const DAY: i64 = 24 * 3600;
    let (before, after) = twice();
    let link = linked(&before, "lead", 0).await;
    let late = linked(&before, "lead", 0).await;
    assert!(after.begin_linked("other", at(1)).await.unwrap().is_none());
    let begun = after.begin_linked(&link, at(DAY - 1)).await.unwrap().unwrap();
    let halves = halves(&begun.cookie, &begun.secret);
    let (holder, login) = before.find(&halves, at(DAY)).await.unwrap().unwrap();
    assert!(matches!(holder, Holder::Linked(question) if question.since == 7));
    let person = before.opened(&login, at(DAY)).await.unwrap().unwrap();
    assert_eq!(person.actor, ActorKey::parse("human:lead").ok());
    for (link, seconds, why) in [(&link, DAY - 1, "was used before"), (&late, DAY, "has expired")] {
        let refused = before.begin_linked(link, at(seconds)).await.err().unwrap();
        assert_eq!(refused.code, Code::LoginLinkInvalid);
        assert!(refused.message.contains(why), "{refused:?}");
    }
    // The store has neither the link nor what a token could be made from.
    let settings = before.units.read(|unit| Ok(unit.settings(Scope::Store)?)).await.unwrap();
    assert!(!format!("{settings:?}").contains(&link));
    assert_eq!(holder_of_token(&person.holder), Some(Holder::Key(String::new())));
}

#[tokio::test]
async fn a_link_that_ended_can_be_replaced_and_not_too_often() {
    const DAY: i64 = 24 * 3600;
    let logins = logins();
    let link = linked(&logins, "lead", 0).await;
    let may = async |link: &str, seconds: i64| {
        let link = link.to_owned();
        let read = logins.units.read(move |unit| linked::renewable(unit, &link, at(seconds)));
        read.await.unwrap()
    };
    assert_eq!(may("other", 1).await, None);
    assert_eq!(may(&link, 1).await, None, "it can be used");
    assert!(may(&link, DAY).await.is_some(), "it has expired");
    logins.begin_linked(&link, at(1)).await.unwrap().unwrap();
    let question = may(&link, 1).await.expect("it was used");
    assert_eq!(question.item(), "live.ask:shop:live_1:7");
    // Others of the question: one a minute, and five a day.
    for number in 0..5 {
        let now = at(2 + number * 60);
        assert!(may(&link, 2 + number * 60).await.is_some(), "{number}");
        let other = NewLink::replacing(question.clone(), now);
        logins.units.write(move |unit| other.put(unit)).await.unwrap();
        assert_eq!(may(&link, 2 + number * 60 + 59).await, None, "{number}");
    }
    assert_eq!(may(&link, 2 + 5 * 60).await, None);
    assert!(may(&link, 2 + DAY).await.is_some(), "the next day");
    // A link of somebody else is not counted.
    let of_other = linked(&logins, "ops", 0).await;
    assert!(may(&of_other, DAY).await.is_some());
    logins.units.write(|unit| forget_person(unit, "lead")).await.unwrap();
    assert_eq!(may(&link, 2 + DAY).await, None, "the person was removed");
}

/// Whose rights a token of a holder has.
fn holder_of_token(holder: &Holder) -> Option<Holder> {
    let text = holder.claims()[HOLDER].as_str().unwrap().to_owned();
    text.strip_prefix("key:").map(|id| Holder::Key(id.to_owned()))
}

#[tokio::test]
async fn links_and_logins_of_a_person_end_together() {
    let logins = logins();
    let (used, unused) = (linked(&logins, "lead", 0).await, linked(&logins, "lead", 0).await);
    let other = linked(&logins, "ops", 0).await;
    let begun = logins.begin_linked(&used, at(1)).await.unwrap().unwrap();
    let (_, of_owner) = self::begun(&logins, 0).await;
    logins.units.write(|unit| forget_person(unit, "lead")).await.unwrap();
    assert!(!finds(&logins, &halves(&begun.cookie, &begun.secret), 2).await);
    assert!(logins.begin_linked(&unused, at(2)).await.unwrap().is_none());
    assert!(logins.begin_linked(&other, at(2)).await.unwrap().is_some());
    assert!(finds(&logins, &of_owner, 2).await);
}

#[tokio::test]
async fn a_login_ends_unused_and_in_any_case() {
    let logins = logins();
    let (_, idle) = begun(&logins, 0).await;
    assert!(!finds(&logins, &idle, IDLE_SECONDS).await);
    let (_, used) = begun(&logins, 0).await;
    let mut now = 0;
    while now + IDLE_SECONDS - 1 < LOGIN_SECONDS {
        now += IDLE_SECONDS - 1;
        assert!(finds(&logins, &used, now).await, "{now}");
    }
    assert!(!finds(&logins, &used, LOGIN_SECONDS).await);
}

#[tokio::test]
async fn numbers_are_bounded() {
    let logins = logins();
    let (_, first) = begun(&logins, 0).await;
    let (_, ended) = begun(&logins, 1 - IDLE_SECONDS).await;
    let fill = logins.units.write(|unit| {
        for number in 2..MOST_LOGINS as i64 {
            let login = Login {
                secret: String::new(),
                person: Holder::Owner.into(),
                until: at(LOGIN_SECONDS),
                used_at: at(number),
            };
            let setting = setting_of(&number.to_string());
            unit.put_setting(Scope::Store, &setting, Some(&login.text()))?;
        }
        Ok(())
    });
    fill.await.unwrap();
    assert!(finds(&logins, &first, 1).await);
    // The first one has room because one has ended; the second one does not.
    begun(&logins, 2).await;
    assert!(finds(&logins, &first, 2).await);
    begun(&logins, 2).await;
    assert!(!finds(&logins, &first, 2).await);
    assert!(!finds(&logins, &ended, 0).await);
    let kept = logins.units.read(|unit| Ok(unit.settings(Scope::Store)?.len())).await;
    assert_eq!(kept.unwrap(), MOST_LOGINS);
    for number in 0..MOST_LINKS as i64 + 10 {
        logins.mint_link(Holder::Owner.into(), at(number / 10), 60);
    }
    assert_eq!(logins.state.lock().links.len(), MOST_LINKS);
}

#[test]
fn failures_of_an_address_are_limited() {
    let logins = logins();
    let (one, other) = (Some([127, 0, 0, 1].into()), Some([10, 0, 0, 1].into()));
    for _ in 0..MOST_FAILURES {
        logins.check_failures(one, at(0)).unwrap();
        logins.record_failure(one, at(0));
    }
    let refused = logins.check_failures(one, at(59)).unwrap_err();
    assert_eq!(refused.code, Code::LoginTooOften);
    logins.check_failures(other, at(0)).unwrap();
    logins.check_failures(one, at(60)).unwrap();
}

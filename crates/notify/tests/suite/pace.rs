//! Who is told, and when.

use std::time::Duration;

use accord_base::ProjectId;
use accord_base::inbox::Urgency::{self, Chain, Loss, Notice, Piece, Should};
use accord_contract::Time;
use accord_notify::pace::{is_due, is_ready, may_send, pause};
use accord_notify::{Earlier, Quiet, Wants, plan};

fn at(seconds: i64) -> Time {
    Time::from_unix_millis(seconds * 1_000)
}

fn earlier(urgency: Urgency, told: Option<i64>) -> Option<Earlier> {
    Some(Earlier { urgency, told_at: told.map(at) })
}

#[test]
fn a_receiver_wants_projects_kinds_and_an_urgency_and_never_notices() {
    let shop = ProjectId::new("shop").unwrap();
    let has = |wants: &Wants, kind: &str, urgency| wants.has(&shop, kind, urgency);
    let all = Wants::default();
    assert!(has(&all, "task.review", Should) && has(&all, "new.kind", Loss));
    assert!(!has(&all, "task.review", Notice));
    assert!(!has(&Wants { urgency: Notice, ..all.clone() }, "task.review", Notice));
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let some = Wants {
        projects: texts(&["shop", "atlas"]),
        kinds: texts(&["task.*", "live.ask"]),
        urgency: Chain,
    };
    assert!(has(&some, "task.blocked", Chain) && has(&some, "live.ask", Loss));
    assert!(!has(&some, "task.blocked", Piece) && !has(&some, "live.asked", Loss));
    assert!(!has(&Wants { projects: texts(&["atlas"]), ..some }, "live.ask", Loss));
}

#[test]
fn an_item_is_told_once_for_each_urgency() {
    assert_eq!(plan(Piece, at(9), None, None), Some(at(9)));
    for told in [None, Some(5)] {
        assert_eq!(plan(Piece, at(9), earlier(Piece, told), None), None);
        assert_eq!(plan(Should, at(9), earlier(Piece, told), None), None);
        assert_eq!(plan(Loss, at(9), earlier(Piece, told), None), Some(at(9)));
    }
}

#[test]
fn a_source_that_comes_and_goes_is_told_once_in_five_minutes() {
    let told = earlier(Piece, Some(100));
    assert_eq!(plan(Piece, at(101), None, told), Some(at(400)));
    assert_eq!(plan(Piece, at(500), None, told), Some(at(500)));
    assert_eq!(plan(Chain, at(101), None, told), Some(at(101)), "it is more urgent");
    assert_eq!(plan(Piece, at(50), None, told), Some(at(50)), "the clock was set back");
}

#[test]
fn items_are_collected_and_a_clock_that_is_set_back_stops_nothing() {
    let group = Duration::from_secs(10);
    assert!(!is_due(at(100), at(109), group) && is_due(at(100), at(110), group));
    // What is told again waits for at most five minutes.
    assert!(!is_due(at(400), at(101), group) && !is_ready(at(400), at(101)));
    assert!(is_due(at(10_000), at(101), group) && is_ready(at(10_000), at(101)));
    assert!(is_due(at(100), at(99_999_999), group), "and one that is set forward");
}

#[test]
fn an_hour_has_a_number_of_messages() {
    let mut sent = Vec::new();
    for second in 0..7_200 {
        if may_send(&sent, at(second), 6) {
            sent.push(at(second));
        }
    }
    assert_eq!(sent[..4], [at(0), at(1), at(2), at(602)]);
    for second in 0..7_200 {
        let within = sent.iter().filter(|one| (at(second)..at(second + 3_600)).contains(one));
        assert!(within.count() <= 6, "{sent:?}");
    }
    assert!(may_send(&[at(9_000); 50], at(10), 6), "the clock was set back");
}

#[test]
fn pauses_grow_up_to_ten_minutes() {
    let pauses: Vec<u64> = [1, 2, 3, 9, u32::MAX].map(|count| pause(count).as_secs()).into();
    assert_eq!(pauses, [2, 6, 18, 600, 600]);
}

#[test]
fn nothing_is_sent_in_quiet_hours_of_the_place() {
    let covers = |hours: &str, minute: i64| Quiet::parse(hours).unwrap().covers(at(minute * 60));
    let of_day = |hours: i64, minutes: i64| 3 * 24 * 60 + hours * 60 + minutes;
    assert!(covers("22:00-07:00", of_day(22, 0)) && covers("22:00-07:00", of_day(6, 59)));
    assert!(!covers("22:00-07:00", of_day(7, 0)) && !covers("22:00-07:00", of_day(21, 59)));
    assert!(covers("12:00-13:00", of_day(12, 30)) && !covers("12:00-13:00", of_day(13, 0)));
    // 23:30 there is 22:30 in UTC, and 00:30 there is 05:30.
    assert!(covers("23:00-00:00+01:00", of_day(22, 30)));
    assert!(covers("00:00-01:00-05:00", of_day(5, 30)));
    for text in ["", "22:00", "22:00-22:00", "24:00-01:00", "1:00-2:00", "22:00-07:00+15:00", "ä"]
    {
        assert_eq!(Quiet::parse(text), None, "{text}");
    }
}

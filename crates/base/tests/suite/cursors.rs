//! Cursors.

use accord_base::{ProjectId, ProjectPosition, cursor};
use accord_contract::{Code, Time};
use proptest::prelude::*;

fn atlas() -> ProjectId {
    ProjectId::new("atlas").unwrap()
}

#[test]
fn a_cursor_belongs_to_one_list_of_one_project() {
    let text = cursor::encode("x", &atlas(), ["a"], Time::MIN, 7);
    let (texts, at, seq) = cursor::decode::<1>("x", &atlas(), &text).unwrap();
    assert_eq!((texts, at, seq), (["a".to_owned()], Time::MIN, 7));
    let other = ProjectId::new("other").unwrap();
    let projects = ProjectPosition { project_id: other.clone() }.encode();
    for refused in [
        cursor::decode::<1>("y", &atlas(), &text).unwrap_err(),
        cursor::decode::<1>("x", &other, &text).unwrap_err(),
        cursor::decode::<1>("x", &atlas(), &projects).unwrap_err(),
        cursor::decode::<2>("x", &atlas(), &text).map(drop).unwrap_err(),
        ProjectPosition::decode(&text).unwrap_err(),
    ] {
        assert_eq!(refused.code, Code::AgenticInvalidCursor);
        assert_eq!(refused.pointer.as_deref(), Some("/cursor"));
    }
}

proptest! {
    #[test]
    fn a_position_survives_its_text(texts in ["\\PC{0,20}", "\\PC{0,20}"], millis: i64, seq: u64) {
        let at = Time::from_unix_millis(millis);
        let text = cursor::encode("x", &atlas(), [&*texts[0], &*texts[1]], at, seq);
        prop_assert_eq!(cursor::decode("x", &atlas(), &text).unwrap(), (texts, at, seq));
    }
}

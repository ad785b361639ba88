//! Sessions, and what their pages show.

use accord_contract::Time;
use accord_pages::LiveView;
use serde_json::{Value, json};

/// A fixed time.
pub(crate) fn now() -> Time {
    Time::from_unix(1_800_000_000, 0).unwrap()
}

/// The snapshot of a session that ends ten minutes after [`now`], with more members.
pub(crate) fn snapshot(members: Value) -> Value {
    let mut snapshot = json!({
        "id": "live_1", "appId": "shop", "eventSequence": 2, "epoch": 3, "status": "active",
        "createdAt": 1_799_999_000_000_i64, "lastActivityAt": 1_799_999_900_000_i64,
        "expiresAt": 1_800_000_600_000_i64, "componentCode": "",
    });
    let Value::Object(members) = members else { panic!("members are an object") };
    snapshot.as_object_mut().unwrap().extend(members);
    snapshot
}

/// The view of a session.
pub(crate) fn view(members: Value) -> LiveView {
    LiveView::new(&snapshot(members), Some("agent:planner"), now())
}

/// Every fragment of a view.
pub(crate) fn whole(view: &LiveView) -> String {
    [view.head(), view.props(), view.actions(), view.streams()]
        .map(|html| html.into_string())
        .join("\n")
}

/// The form of an action with a schema.
pub(crate) fn form(schema: Value) -> String {
    let spec = json!({"actionSpec": {"send": {"label": "Send", "schema": schema}}});
    view(spec).actions().into_string()
}

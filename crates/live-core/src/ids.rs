//! The ids of live sessions.

use accord_base::id;

id! {
    /// Names a live session. It is unique on a host, over all apps.
    SessionId, "live_"
}
id! {
    /// Names an app: what a project is called on the channel.
    AppId, "app_"
}
id! {
    /// Names a handshake, which an agent makes before it renders.
    HandshakeId, "hs_"
}

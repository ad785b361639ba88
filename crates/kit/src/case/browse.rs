//! A move in a browser: what a person sees of a server.

use accord_contract::{message, wire_enum};

message! {
    /// A move in a browser. With `open` it is in a new tab, else in the open tab of the name that
    /// the move has in `on`.
    pub struct Browse("Browse", closed) {
        /// The URL to open: absolute, or a path at the server under test. The tab shares nothing
        /// with others.
        optional open: String = "open", "url";
        /// What goes wrong in the new tab, from its first request on.
        optional fault: BrowserFault = "fault", "browser-fault";
        /// Whether the tab has sockets: `false` closes those that are open and lets no other open,
        /// `true` ends that.
        optional sockets: bool = "sockets", "flag";
        /// Texts that must become visible, all of them at the same time.
        optional shows: Vec<String> = "shows", "texts";
        /// Texts of which one must become visible, at the same time as those of `shows`.
        optional shows_one_of: Vec<String> = "shows_one_of", "texts";
        /// Texts that must not be visible then.
        optional hides: Vec<String> = "hides", "texts";
        /// Texts that may be visible only in this order, since the tab was opened: after one of
        /// them, none before it. The last must become visible.
        optional order: Vec<String> = "order", "texts";
        /// Whether the tab must still have the document that the last judgement of it saw.
        optional same_document: bool = "same_document", "flag";
    }
}

wire_enum! {
    /// What goes wrong in a tab.
    pub enum BrowserFault("BrowserFault", closed) {
        /// No script file can be fetched.
        ScriptsFail = "scripts-fail",
        /// Every answer to a request of a script is an empty JSON object.
        EmptyAnswers = "empty-answers",
        /// No WebSocket can be opened.
        SocketsFail = "sockets-fail",
    }
}

impl Browse {
    /// Whether the move judges what is visible.
    pub fn judges(&self) -> bool {
        self.shows.is_some() || self.shows_one_of.is_some() || self.order.is_some()
    }

    /// Every text of the move that may name variables, with the name of its member.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let lists = [
            ("shows", &self.shows),
            ("shows_one_of", &self.shows_one_of),
            ("hides", &self.hides),
            ("order", &self.order),
        ];
        let texts = lists
            .into_iter()
            .flat_map(|(name, list)| list.iter().flatten().map(move |text| (name, text)));
        self.open.iter().map(|text| ("open", text)).chain(texts)
    }
}

//! The modules, the style and the icon of the pages.
//!
//! They are part of the binary. Their path has the digest of all of them together, so that a
//! module's relative import is of the same version, and a browser may keep a file for ever.

mod bundle;

use std::sync::OnceLock;

pub(crate) use self::bundle::bundle;

/// A file that pages load.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($name:literal $media_type:expr;)+) => {
        /// Every file.
        pub const ASSETS: &[Asset] = &[$(Asset {
            name: $name,
            media_type: $media_type,
            text: include_str!(concat!("../assets/", $name)),
        }),+];
    };
}

assets! {
    "api.js" SCRIPT;
    "channel.js" SCRIPT;
    "credentials.js" SCRIPT;
    "dom.js" SCRIPT;
    "fallback.js" SCRIPT;
    "forms.js" SCRIPT;
    "frame.js" SCRIPT;
    "frame_body.js" SCRIPT;
    "icon.svg" "image/svg+xml";
    "kept.js" SCRIPT;
    "live.js" SCRIPT;
    "messages.js" SCRIPT;
    "page.css" "text/css; charset=utf-8";
    "streams.js" SCRIPT;
    "text.js" SCRIPT;
    "theme.js" SCRIPT;
    "value.js" SCRIPT;
}

/// The version of the files: the beginning of the digest of all of them.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let all: String = (ASSETS.iter())
            .map(|asset| format!("{}\0{}\0{}\0", asset.name, asset.text.len(), asset.text))
            .collect();
        accord_canon::sha256(all.as_bytes()).hex()[..16].to_owned()
    })
}

/// The path below which pages find the files, without a slash at its end.
pub(crate) fn path() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| format!("/assets/{}", version()))
}

/// The path of the module that shows a session in the frame of a host (`runtimeUrl`).
pub fn frame_path() -> String {
    format!("{}/frame.js", path())
}

pub fn find(asked: &str, name: &str) -> Option<&'static Asset> {
    ASSETS.iter().filter(|_| asked == version()).find(|asset| asset.name == name)
}

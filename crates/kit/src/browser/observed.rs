//! What a page reported while it ran.

use serde_json::Value;

/// What a page reported while it ran.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Observed {
    /// Errors and warnings on the console, with their source, without recommendations.
    pub console: Vec<String>,
    /// Exceptions that no script caught.
    pub exceptions: Vec<String>,
    /// Content that the page's Content Security Policy refused: the directive and what it was.
    pub refused_content: Vec<String>,
    /// The texts of dialogs (`alert`, `confirm`, `prompt`).
    pub dialogs: Vec<String>,
    /// The URLs that the page's main frame went to.
    pub navigations: Vec<String>,
    /// The URLs of frames inside the page.
    pub frames: Vec<String>,
    /// The URLs of windows that the page opened.
    pub windows: Vec<String>,
    /// Requests, sockets included.
    pub requests: Vec<Request>,
}

/// A request of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The method; `CONNECT` for a socket.
    pub method: String,
    /// The URL.
    pub url: String,
    /// What the browser wanted it for, such as `Script` or `WebSocket`.
    pub kind: String,
}

impl Observed {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds an event of the debugging protocol.
    pub(super) fn add(&mut self, method: &str, params: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match method {
            "Runtime.consoleAPICalled" => self.add_console(params),
            "Runtime.exceptionThrown" => {
                self.exceptions.push(exception(&params["exceptionDetails"]));
            }
            "Log.entryAdded" => {
                let entry = &params["entry"];
                let (source, url) = (text(&entry["source"]), text(&entry["url"]));
                let is_trouble = matches!(entry["level"].as_str(), Some("error" | "warning"));
                if is_trouble && !RECOMMENDATIONS.contains(&source.as_str()) {
                    self.console.push(format!("{source}: {} {url}", text(&entry["text"])));
                }
            }
            "Audits.issueAdded" => {
                let details = &params["issue"]["details"]["contentSecurityPolicyIssueDetails"];
                if details.is_object() {
                    let directive = text(&details["violatedDirective"]);
                    let what = match details["blockedURL"].as_str() {
                        Some(url) => url.to_owned(),
                        None => text(&details["contentSecurityPolicyViolationType"]),
                    };
                    self.refused_content.push(format!("{directive}: {what}"));
                }
            }
            "Page.javascriptDialogOpening" => self.dialogs.push(text(&params["message"])),
            "Page.frameNavigated" => {
                let frame = &params["frame"];
                let urls = match frame["parentId"].is_string() {
                    true => &mut self.frames,
                    false => &mut self.navigations,
                };
                urls.push(text(&frame["url"]));
            }
            "Page.windowOpen" => self.windows.push(text(&params["url"])),
            "Network.requestWillBeSent" => {
                let request = &params["request"];
                self.requests.push(Request {
                    method: text(&request["method"]),
                    url: text(&request["url"]),
                    kind: text(&params["type"]),
                });
            }
            "Network.webSocketCreated" => {
                let (method, kind) = ("CONNECT".to_owned(), "WebSocket".to_owned());
                self.requests.push(Request { method, url: text(&params["url"]), kind });
            }
            _ => {}
        }
    }

    fn add_console(&mut self, params: &Value) {
        let kind = params["type"].as_str().unwrap_or_default();
        if !matches!(kind, "error" | "warning" | "assert") {
            return;
        }
        let args = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
        let words = args.iter().map(|arg| match (&arg["value"], &arg["description"]) {
            (Value::String(text), _) => text.clone(),
            (Value::Null, description) => description.as_str().unwrap_or("null").to_owned(),
            (value, _) => value.to_string(),
        });
        self.console.push(format!("{kind}: {}", words.collect::<Vec<_>>().join(" ")));
    }
}

/// The sources of entries that a browser writes about itself. The next version writes others.
const RECOMMENDATIONS: [&str; 3] = ["deprecation", "intervention", "recommendation"];

pub(super) fn exception(details: &Value) -> String {
    let thrown = &details["exception"];
    let described = thrown["description"].as_str().or_else(|| thrown["value"].as_str());
    let text = described.or_else(|| details["text"].as_str());
    text.unwrap_or("an exception without a text").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Observed;

    #[test]
    fn what_a_browser_recommends_is_no_trouble_of_the_page() {
        let mut observed = Observed::default();
        for (source, level) in
            [("deprecation", "warning"), ("network", "error"), ("network", "info")]
        {
            let entry = json!({"source": source, "level": level, "text": "lost", "url": "/a"});
            observed.add("Log.entryAdded", &json!({"entry": entry}));
        }
        assert_eq!(observed.console, ["network: lost /a"]);
    }
}

//! How often an app may render.

use std::collections::HashMap;

use accord_contract::{Failure, Time};
use accord_live_core::{AppId, refuse};
use parking_lot::Mutex;

/// Milliseconds of a window.
const WINDOW_MS: i64 = 60_000;
/// Apps whose windows are kept. When there are more, the windows that are over go away.
const APPS: usize = 4096;

/// The renders of each app in its present window. A window is a minute of the clock.
#[derive(Default)]
pub(crate) struct Rates(Mutex<HashMap<AppId, Window>>);

#[derive(Clone, Copy)]
struct Window {
    number: i64,
    renders: u32,
}

impl Rates {
    /// Counts a render. Returns why the app must wait, if there are too many.
    pub(crate) fn take(&self, app: &AppId, now: Time, most: u32) -> Option<Failure> {
        if most == 0 {
            return None;
        }
        let millis = now.unix_millis();
        let number = millis.div_euclid(WINDOW_MS);
        let mut windows = self.0.lock();
        if windows.len() >= APPS && !windows.contains_key(app) {
            windows.retain(|_, window| window.number == number);
        }
        let window = windows.entry(app.clone()).or_insert(Window { number, renders: 0 });
        if window.number != number {
            *window = Window { number, renders: 0 };
        }
        window.renders = window.renders.saturating_add(1);
        if window.renders <= most {
            return None;
        }
        let seconds = (WINDOW_MS - millis.rem_euclid(WINDOW_MS)).div_euclid(1000) + 1;
        let message = format!("the app renders more than {most} times in a minute");
        let advice =
            format!("wait {seconds} seconds, then call ggui_render with the same handshakeId");
        let failure = refuse::rate_limit_exceeded(message).suggesting(advice);
        Some(failure.with("retryAfterSeconds", seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_one_app() {
        let (rates, shop) = (Rates::default(), AppId::new("shop").unwrap());
        let at = |millis| Time::from_unix_millis(millis);
        assert!(rates.take(&shop, at(60_000), 2).is_none());
        assert!(rates.take(&shop, at(61_000), 2).is_none());
        let refused = rates.take(&shop, at(90_000), 2).unwrap();
        assert_eq!(refused.code.as_str(), "RATE_LIMIT_EXCEEDED");
        assert_eq!(refused.details.unwrap()["retryAfterSeconds"], 31);
        assert!(rates.take(&AppId::new("atlas").unwrap(), at(90_000), 2).is_none());
        assert!(rates.take(&shop, at(120_000), 2).is_none());
        assert!(rates.take(&shop, at(120_000), 0).is_none());
    }
}

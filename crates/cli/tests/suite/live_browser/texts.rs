//! Hostile texts of an agent, through the real server: the contract, the store, the channel.

#[path = "../../../../pages/tests/suite/browser/hostile_texts.rs"]
mod hostile_texts;

use accord_kit::browser::Observed;
use serde_json::{Map, Value, json};

use self::hostile_texts::{CONCEALED, HOSTILE};
use super::hooks::wait_until_live;
use super::with_browser;
use super::world::World;

#[test]
fn hostile_texts_of_an_agent_stay_texts() {
    with_browser(|browser| {
        let world = World::open();
        let agent = world.agent();
        let concealed = CONCEALED.iter().map(|(letter, _)| format!("pay{letter}100"));
        let texts = HOSTILE.iter().map(|&text| text.to_owned()).chain(concealed);
        let texts: Vec<String> = texts.collect();
        let (mut properties, mut props) = (Map::new(), Map::new());
        for (at, text) in texts.iter().enumerate() {
            let schema = json!({"type": "string", "description": text});
            properties.insert(format!("p{at}"), json!({"schema": schema, "description": text}));
            props.insert(format!("p{at}"), json!(text));
        }
        let all = texts.join("\n\n");
        let choices = json!({"type": "string", "enum": texts});
        let title: String = CONCEALED.iter().map(|(letter, _)| format!("a{letter}")).collect();
        let contract = json!({
            "propsSpec": {"description": all, "properties": properties},
            "actionSpec": {"send": {"label": texts[0], "description": all, "confirm": true,
                "schema": {"type": "object", "properties": {"choice": choices,
                    "text": {"type": "string", "title": title, "description": texts[6]}}}}},
            "streamSpec": {"log": {"schema": {"type": "string"}, "replay": "all",
                "description": all}},
        });
        let session = agent.ask(&texts[6], &contract, &Value::Object(props));
        for text in &texts {
            agent.emit(&session, text);
        }
        agent.emit(&session, "the last message");
        let page = browser.private_page().expect("a tab");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        page.wait_for_text("the last message").expect("every message");
        page.click("form[data-action=send] button[type=submit]").expect("a button");
        page.wait_until("the dialog", "document.querySelector('#confirm').open").expect("asked");

        assert_eq!(page.evaluate("globalThis.hacked ?? null").expect("a value"), json!(null));
        let risky = "document.querySelectorAll(`body :is(script, iframe, object, embed, img, svg,
            math, style, link, meta, base, video, audio)`).length";
        assert_eq!(page.evaluate(risky).expect("a number"), 0);
        assert_eq!(page.url().expect("a URL"), world.page(&session));
        for (_, shown) in CONCEALED {
            for place in ["#props", "#actions", "#streams"] {
                let boxes = format!(
                    "[...document.querySelectorAll('{place} .codepoint')]
                        .some(box => box.textContent === '{shown}')"
                );
                let found = page.evaluate(&boxes).expect("a value");
                assert_eq!(found, true, "{shown} in {place}");
            }
        }
        let Observed {
            refused_content,
            exceptions,
            console,
            dialogs,
            frames,
            windows,
            requests,
            ..
        } = page.observed().expect("what it did");
        let none: [String; 0] = [];
        for found in [refused_content, exceptions, console, dialogs, frames, windows] {
            assert_eq!(found, none);
        }
        let address = &world.server().address;
        for request in requests {
            let is_own = [format!("http://{address}/"), format!("ws://{address}/")];
            let is_own = is_own.iter().any(|own| request.url.starts_with(own.as_str()));
            assert!(is_own, "{request:?}");
        }
        page.close().expect("closed");
    });
}

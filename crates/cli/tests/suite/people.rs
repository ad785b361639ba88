//! Links of people, as an operator gives them.

use serde_json::Value;

use crate::accord::run;
use crate::flows::{asking, waiting};
use crate::memory::bare;
use crate::task_place::Tasks;
use crate::wait::output_of;

/// The text of a mail.
pub(crate) fn text_of(mail: &str) -> String {
    let (_, body) = mail.split_once("\r\n\r\n").expect("a body");
    let body: String = body.split_whitespace().collect();
    let (mut text, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in body.bytes().filter(|letter| *letter != b'=') {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let value = letters.iter().position(|other| *other == letter).expect("base64");
        (bits, count) = (bits << 6 | u32::try_from(value).expect("six bits"), count + 6);
        if count >= 8 {
            count -= 8;
            text.push(u8::try_from(bits >> count & 0xff).expect("eight bits"));
        }
    }
    String::from_utf8(text).expect("text")
}

#[test]
fn a_link_is_mailed_to_the_stored_address_and_is_in_no_answer() {
    let tasks = Tasks::new();
    tasks.said("project create shop");
    let (mail, settings) = (tasks.folder().join("mail"), tasks.data().join("accord.toml"));
    let program = tasks.folder().join("mail.sh");
    let set =
        |line: &str| std::fs::write(&settings, format!("[notify]\n{line}\n")).expect("written");
    std::fs::write(&program, format!("cat > '{}'\n", mail.display())).expect("written");
    set(&format!("mail = \"sh {}\"", program.display()));
    let tasks = tasks.served();
    let asked = asking(&tasks, "live ask 'Deploy 3.0?' --option yes --option no --to human:lead");
    let session = waiting(&tasks);
    let items = tasks.memory("inbox");
    let item = items["items"][0]["handle"].as_str().expect("a name").to_owned();
    let link = |words: &str| {
        let words = format!("person link lead --item {item} {words}");
        let mut command = bare(
            &shell_words::split(&words)
                .expect("words")
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        command.current_dir(tasks.folder()).env("ACCORD_DATA", tasks.data());
        command.env("ACCORD_PROJECT", "shop").env("ACCORD_ACTOR", "human:lead");
        run(command, "")
    };
    tasks.said("person add lead");
    let refused = link("--mail");
    assert!(refused.stderr.contains("MAIL_NOT_SENT"), "{refused:?}");
    assert!(refused.stderr.contains("no stored e-mail address"), "{refused:?}");
    tasks.said("person change lead --email lead@example.org");
    let made = link("--mail --json");
    let document: Value = serde_json::from_str(&made.stdout).expect("JSON");
    assert_eq!(document["mailed_to"], "lead@example.org", "{made:?}");
    assert_eq!(document["url"], Value::Null);
    assert!(!made.stdout.contains("#p="), "{made:?}");
    let sent = std::fs::read_to_string(&mail).expect("a mail");
    assert!(sent.starts_with("To: lead@example.org\r\n"), "{sent}");
    let text = text_of(&sent);
    let start = format!("/live/{session}#p=");
    assert!(text.contains(&start) && text.contains("\"Deploy 3.0?\""), "{text}");
    let said = link("--mail");
    assert!(said.stdout.contains("mailed to lead@example.org"), "{said:?}");
    // What fails is said.
    std::fs::write(&program, "echo full >&2; exit 3\n").expect("written");
    let failed = link("--mail");
    assert!(failed.code != 0 && failed.stderr.contains("full"), "{failed:?}");
    tasks.said(&format!("live answer {session} yes"));
    output_of(asked, "accord live ask");
}

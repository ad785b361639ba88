//! The lines between a client and the MCP server. A line that is not a JSON-RPC message is answered
//! here.
//!
//! The server would ignore such a line, or answer it without an id, and the client would wait
//! forever. So every line is answered, with `"id":null` if the request is unknown.
//!
//! Invariant: lines are written whole, also when several tasks write.

use accord_contract::Value;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::io::{AsyncRead, AsyncWrite, BufReader, DuplexStream, duplex};
use tokio::{sync::mpsc, task::JoinHandle};

use super::confirmation::Confirmations;

/// The tasks that copy lines, while the server has its ends.
pub(crate) struct CopyTasks {
    reading: JoinHandle<()>,
    writing: JoinHandle<()>,
}

const BUFFER: usize = 64 * 1024;
/// How many refusals may wait to be written.
const WAITING: usize = 16;

/// Starts to copy lines of a client's streams. Returns the server's ends of the lines, and the
/// tasks, to be kept until the server is done.
pub(crate) fn copy_lines(
    from_client: impl AsyncRead + Send + Unpin + 'static,
    to_client: impl AsyncWrite + Send + Unpin + 'static,
    confirmations: Confirmations,
) -> ((DuplexStream, DuplexStream), CopyTasks) {
    let (input, to_server) = duplex(BUFFER);
    let (output, from_server) = duplex(BUFFER);
    let (refused, refusals) = mpsc::channel(WAITING);
    let reading = accord_system::spawn(read(from_client, to_server, refused));
    let writing = accord_system::spawn(write(from_server, refusals, to_client, confirmations));
    ((input, output), CopyTasks { reading, writing })
}

impl CopyTasks {
    /// Waits until everything was sent to the client. The server must have dropped its ends.
    pub(crate) async fn finish(self) {
        // The client may keep its input open without sending more.
        self.reading.abort();
        let _ = self.reading.await;
        let _ = self.writing.await;
    }
}

/// Forwards messages to the server, and refuses every other line.
async fn read(
    from_client: impl AsyncRead + Unpin,
    mut to_server: DuplexStream,
    refused: mpsc::Sender<String>,
) {
    let mut lines = BufReader::new(from_client);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let sent = match refusal(&line) {
            Some(refusal) => refused.send(refusal).await.is_ok(),
            None => to_server.write_all(&line).await.is_ok(),
        };
        if !sent {
            return;
        }
    }
}

/// Writes the lines of the server, and refusals between them.
async fn write(
    from_server: DuplexStream,
    mut refusals: mpsc::Receiver<String>,
    mut to_client: impl AsyncWrite + Unpin,
    confirmations: Confirmations,
) {
    let mut lines = BufReader::new(from_server);
    let mut line = Vec::new();
    let mut refusing = true;
    loop {
        let written = tokio::select! {
            refusal = refusals.recv(), if refusing => match refusal {
                Some(refusal) => to_client.write_all(refusal.as_bytes()).await,
                None => {
                    // A closed channel is ready at once, again and again, so it is not polled any
                    // more.
                    refusing = false;
                    continue;
                }
            },
            // A partial line stays in `line` when a refusal is written first.
            count = lines.read_until(b'\n', &mut line) => match count {
                Ok(count) if count > 0 || !line.is_empty() => {
                    let confirming = confirmations.begin().await;
                    let mut written = to_client.write_all(&line).await;
                    if written.is_ok() {
                        written = to_client.flush().await;
                    }
                    if written.is_ok() && confirming.is_some() {
                        confirmations.written(&line).await;
                    }
                    line.clear();
                    written
                }
                _ => break,
            },
        };
        if written.is_err() || to_client.flush().await.is_err() {
            return;
        }
    }
    while let Some(refusal) = refusals.recv().await {
        if to_client.write_all(refusal.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = to_client.flush().await;
}

pub(crate) struct Problem {
    id: Value,
    code: i32,
    /// What is wrong, to follow the subject of a sentence.
    pub message: &'static str,
}

/// What is wrong with a text that should be a message; `None` for a message or an empty text.
pub(crate) fn problem(text: &[u8]) -> Option<Problem> {
    if text.trim_ascii().is_empty() {
        return None;
    }
    let (id, code, message) = match serde_json::from_slice::<Value>(text) {
        Err(_) => (Value::Null, -32_700, "is not JSON"),
        Ok(Value::Object(members)) => {
            let is_version_2 = members.get("jsonrpc").is_some_and(|version| version == "2.0");
            let is_message =
                ["method", "result", "error"].iter().any(|name| members.contains_key(*name));
            if is_version_2 && is_message {
                return None;
            }
            let id = members.get("id").filter(|id| id.is_string() || id.is_number());
            let id = id.cloned().unwrap_or_default();
            (id, -32_600, "is not a JSON-RPC 2.0 message")
        }
        Ok(_) => (Value::Null, -32_600, "is not one message, which is a JSON object"),
    };
    Some(Problem { id, code, message })
}

/// The answer to a line that is not a message; `None` for a message or an empty line.
fn refusal(line: &[u8]) -> Option<String> {
    let Problem { id, code, message } = problem(line)?;
    let message = format!("the line {message}");
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    Some(format!("{body}\n"))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[test]
    fn input_that_is_no_message_is_refused_with_its_code() {
        for (line, code, id) in [
            ("garbage", -32_700, json!(null)),
            ("{\"jsonrpc\":\"2.0\",", -32_700, json!(null)),
            ("\u{1}", -32_700, json!(null)),
            ("[]", -32_600, json!(null)),
            ("[{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1}]", -32_600, json!(null)),
            ("7", -32_600, json!(null)),
            ("{}", -32_600, json!(null)),
            ("{\"id\":[1]}", -32_600, json!(null)),
            ("{\"id\":3,\"method\":\"ping\"}", -32_600, json!(3)),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", -32_600, json!("a")),
        ] {
            let refusal: Value = serde_json::from_str(&refusal(line.as_bytes()).unwrap()).unwrap();
            assert_eq!(refusal["error"]["code"], code, "{line}");
            assert_eq!(refusal.get("id"), Some(&id), "{line}");
        }
        for line in ["", " \r\n", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"] {
            assert_eq!(refusal(line.as_bytes()), None, "{line}");
        }
    }

    /// Fuzz target for the lines of an MCP client.
    #[test]
    fn every_line_is_a_message_or_has_an_answer() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": [1]}});
        bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
            let mutated = accord_contract::testing::mutate(&message, input).to_string();
            for line in [input, mutated.as_bytes()] {
                let Some(answer) = refusal(line) else {
                    let is_blank = line.trim_ascii().is_empty();
                    assert!(is_blank || serde_json::from_slice::<Value>(line).is_ok());
                    continue;
                };
                assert_eq!(answer.find('\n'), Some(answer.len() - 1));
                let answer: Value = serde_json::from_str(&answer).unwrap();
                assert!(answer["error"]["code"].is_i64());
            }
        });
    }

    #[tokio::test]
    async fn messages_pass_and_everything_is_written_before_the_end() {
        let (mut client, theirs) = duplex(1_000_000);
        let (theirs_in, theirs_out) = tokio::io::split(theirs);
        let ((mut input, mut output), held) =
            copy_lines(theirs_in, theirs_out, Confirmations::default());
        let message = "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n";
        client.write_all(format!("no\n{message}").as_bytes()).await.unwrap();
        let mut passed = vec![0; message.len()];
        input.read_exact(&mut passed).await.unwrap();
        assert_eq!(passed, message.as_bytes());
        output.write_all(b"{\"answer\":").await.unwrap();
        output.write_all(b"1}\n").await.unwrap();
        drop((input, output));
        held.finish().await;
        let mut said = String::new();
        client.read_to_string(&mut said).await.unwrap();
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines.len(), 2, "{said}");
        assert_eq!(lines[0], "{\"answer\":1}");
        assert!(lines[1].contains("-32700"), "{said}");
    }
}

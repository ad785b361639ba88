//! The tools, against a host with scripted answers.

use accord_contract::{Code, Failure};
use accord_host::mcp::{CallContext, parse_actor};
use serde_json::{Value, json};

use super::client::{Client, text};
use super::fake::{Fake, refusing, unreachable};

#[tokio::test]
async fn the_server_says_how_to_work_with_it() {
    let mut client = Client::begin(Fake::echoing()).await;
    assert_eq!(client.welcome["serverInfo"]["name"], "accord");
    assert_eq!(client.welcome["protocolVersion"], "2025-06-18");
    let instructions = client.welcome["instructions"].clone();
    let instructions = instructions.as_str().unwrap();
    let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // What the instructions and descriptions speak of is there.
    for word in instructions.split(|c: char| !c.is_alphanumeric() && c != '_') {
        // `memory_*` stands for all of them.
        let is_tool = word.starts_with("memory_") && word != "memory_";
        assert!(!is_tool || names.contains(&word), "{word}");
    }
    for tool in tools {
        let (name, schema) = (&tool["name"], &tool["inputSchema"]);
        assert!(name.as_str().unwrap().starts_with("memory_"));
        let properties = schema["properties"].as_object().unwrap();
        for required in schema["required"].as_array().unwrap_or(&Vec::new()) {
            assert!(properties.contains_key(required.as_str().unwrap()), "{name}");
        }
        for (argument, schema) in properties {
            assert!(schema["description"] != "", "{name} {argument}");
        }
        // Codex asks its user about a tool that neither reads alone nor says that it is harmless.
        let hints = &tool["annotations"];
        let reads = hints["readOnlyHint"] == true;
        let says = hints["destructiveHint"].is_boolean() && hints["openWorldHint"] == false;
        assert!(reads ^ says, "{name}");
        let description = tool["description"].as_str().unwrap();
        for word in description.split(|c: char| !c.is_alphanumeric() && c != '_') {
            assert!(!word.starts_with("memory_") || names.contains(&word), "{name}: {word}");
        }
    }
}

#[tokio::test]
async fn a_deposit_needs_a_title_and_little_else() {
    let fake = Fake::echoing();
    let mut client = Client::begin(fake.clone()).await;
    let started = client
        .call("memory_session_start", json!({"project_id": "a/b", "actor": "agent:writer"}))
        .await;
    assert_eq!(started["structuredContent"]["callsign"], "amber-otter");
    assert_eq!(fake.last().target, "/v1/projects/a%2Fb/sessions");
    assert_eq!(fake.last().body, json!({"actor_id": "writer", "actor_type": "agent"}));

    let arguments = json!({
        "title": "T", "decisions_made": ["D"], "tags": null, "significance": 8.0,
        "extra": {"x-git": "abc"}
    });
    let result = client.call("memory_deposit", arguments).await;
    let asked = fake.last();
    assert_eq!(
        (asked.method.as_str(), asked.target.as_str()),
        ("POST", "/v1/projects/a%2Fb/packages")
    );
    let id = asked.body["package_id"].as_str().unwrap();
    assert!(id.starts_with("pkg_") && id.len() == 36);
    assert!(
        accord_contract::time::Timestamp::parse(asked.body["created_at"].as_str().unwrap()).is_ok()
    );
    let mut body = asked.body.clone();
    body.as_object_mut().unwrap().retain(|name, _| name != "package_id" && name != "created_at");
    assert_eq!(
        body,
        json!({
            "project_id": "a/b", "relay_version": "0.1", "title": "T", "status": "complete",
            "package_type": "standard", "review_type": "none",
            "created_by": {"id": "writer", "type": "agent", "session_id": "sess_1"},
            "decisions_made": ["D"], "significance": 8, "x-git": "abc"
        })
    );
    // A receipt, in both places, without what was sent.
    let receipt = &result["structuredContent"];
    assert_eq!(receipt["package_id"], id);
    assert_eq!(receipt["created"], true);
    assert!(receipt.get("decisions_made").is_none());
    assert_eq!(&serde_json::from_str::<Value>(text(&result)).unwrap(), receipt);
}

#[tokio::test]
async fn who_calls_and_where_comes_from_the_nearest_place() {
    let fake = Fake::echoing();
    let standing = CallContext {
        project: Some("flags".into()),
        actor: Some(parse_actor("human:flags").unwrap()),
        ..CallContext::default()
    };
    let mut client = Client::with(fake.clone(), standing).await;
    let by = |asked: &super::fake::Asked| {
        let project = asked.target.split('/').nth(3).unwrap().to_owned();
        (project, asked.body["created_by"].clone())
    };
    client.call("memory_deposit", json!({"title": "T"})).await;
    assert_eq!(by(&fake.last()), ("flags".into(), json!({"id": "flags", "type": "human"})));

    client.call("memory_session_start", json!({"project_id": "session"})).await;
    client.call("memory_deposit", json!({"title": "T"})).await;
    let expected = json!({"id": "flags", "type": "human", "session_id": "sess_1"});
    assert_eq!(by(&fake.last()), ("session".into(), expected));

    // A session belongs to its project; the actor is the same elsewhere.
    client.call("memory_deposit", json!({"title": "T", "project_id": "other"})).await;
    assert_eq!(by(&fake.last()), ("other".into(), json!({"id": "flags", "type": "human"})));

    let arguments = json!({"title": "T", "actor": "script:own", "session_id": "sess_own"});
    client.call("memory_deposit", arguments).await;
    let expected = json!({"id": "own", "type": "script", "session_id": "sess_own"});
    assert_eq!(by(&fake.last()), ("session".into(), expected));

    client.call("memory_session_end", json!({})).await;
    assert_eq!(fake.last().target, "/v1/sessions/sess_1");
    client.call("memory_deposit", json!({"title": "T"})).await;
    assert_eq!(by(&fake.last()).0, "flags");
    // With a project of its own, the server does not demand one.
    let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let start = &tools.as_array().unwrap()[0];
    assert!(start["inputSchema"].get("required").is_none(), "{start}");
    let instructions = client.welcome["instructions"].as_str().unwrap();
    assert!(instructions.contains("The project is \"flags\""), "{instructions}");
    assert!(start["inputSchema"].get("required").is_none());
}

#[tokio::test]
async fn a_client_that_says_nothing_is_an_agent_of_its_name() {
    let fake = Fake::echoing();
    let mut client = Client::begin(fake.clone()).await;
    client.call("memory_deposit", json!({"title": "T", "project_id": "p"})).await;
    assert_eq!(fake.last().body["created_by"], json!({"id": "test-client", "type": "agent"}));
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_asked() {
    let fake = Fake::echoing();
    let mut client = Client::begin(fake.clone()).await;
    for (tool, arguments, code, field, words) in [
        ("memory_deposit", json!({"project_id": "p"}), "MCP_ARGUMENT_MISSING", "title", "title"),
        (
            "memory_deposit",
            json!({"title": " ", "project_id": "p"}),
            "MCP_ARGUMENT_MISSING",
            "title",
            "title",
        ),
        (
            "memory_deposit",
            json!({"title": "T"}),
            "MCP_ARGUMENT_MISSING",
            "project_id",
            "memory_session_start",
        ),
        (
            "memory_session_start",
            json!({}),
            "MCP_ARGUMENT_MISSING",
            "project_id",
            "memory_projects",
        ),
        ("memory_session_end", json!({}), "MCP_ARGUMENT_MISSING", "session_id", "memory_sessions"),
        (
            "memory_deposit",
            json!({"title": "T", "project_id": "p", "decisions": ["D"]}),
            "MCP_ARGUMENT_UNKNOWN",
            "decisions",
            "decisions_made",
        ),
        (
            "memory_projects",
            json!({"zebra": 1}),
            "MCP_ARGUMENT_UNKNOWN",
            "zebra",
            "include_archived",
        ),
        (
            "memory_deposit",
            json!({"title": "T", "project_id": "p", "decisions_made": "D"}),
            "MCP_ARGUMENT_INVALID",
            "decisions_made",
            "list of strings",
        ),
        (
            "memory_deposit",
            json!({"title": "T", "project_id": "p", "status": "done"}),
            "MCP_ARGUMENT_INVALID",
            "status",
            "complete, draft, awaiting_review",
        ),
        (
            "memory_deposit",
            json!({"title": "T", "project_id": "p", "extra": {"git": "abc"}}),
            "MCP_ARGUMENT_INVALID",
            "extra",
            "x-",
        ),
        (
            "memory_deposit",
            json!({"title": "T", "project_id": "p", "actor": "claude"}),
            "MCP_ARGUMENT_INVALID",
            "actor",
            "agent:ID",
        ),
        (
            "memory_pull",
            json!({"project_id": "p", "limit": 0}),
            "MCP_ARGUMENT_INVALID",
            "limit",
            "from 1 to 200",
        ),
        (
            "memory_pull",
            json!({"package_id": "a", "query": "b"}),
            "MCP_ARGUMENT_INVALID",
            "query",
            "package_id",
        ),
        (
            "memory_fact_assert",
            json!({"project_id": "p", "subject": "s", "predicate": "p", "value": 97.0}),
            "MCP_ARGUMENT_INVALID",
            "value",
            "a string",
        ),
    ] {
        let error = client.refused(tool, arguments.clone()).await;
        assert_eq!((&error["code"], &error["field"]), (&json!(code), &json!(field)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(fake.asked().len(), 0);
}

#[tokio::test]
async fn what_the_host_refuses_is_a_result_with_code_and_advice() {
    let fake = Fake::new(|asked| {
        if asked.target.contains("archived") {
            return refusing(&Failure::new(Code::AgenticProjectArchived, "it is archived"));
        }
        let failure = Failure::new(Code::AgenticInvalidSchema, "title is too long").at("/title");
        refusing(&failure.suggesting("Shorten it."))
    });
    let mut client = Client::begin(fake).await;
    let arguments = json!({"project_id": "p", "title": "T"});
    let error = client.refused("memory_deposit", arguments).await;
    let expected = json!({
        "code": "invalid_schema", "message": "title is too long", "what_to_do": "Shorten it.",
        "field": "title"
    });
    assert_eq!(error, expected);
    let arguments = json!({"project_id": "archived", "title": "T"});
    let error = client.refused("memory_deposit", arguments).await;
    assert_eq!(error["code"], "project_archived");
    assert!(error["what_to_do"].as_str().unwrap().contains("Ask a person"), "{error}");
}

#[tokio::test]
async fn without_an_answer_the_id_of_the_package_is_named() {
    let mut client = Client::begin(Fake::new(|_| unreachable())).await;
    let arguments = json!({"project_id": "p", "title": "T"});
    let error = client.refused("memory_deposit", arguments).await;
    assert_eq!(error["code"], "HOST_TIMEOUT");
    assert!(error["package_id"].as_str().unwrap().starts_with("pkg_"), "{error}");
    assert!(error["created_at"].is_string());

    let answers = [(500, "oops".to_owned()), (200, "no object".to_owned())];
    for answer in answers {
        let mut client = Client::begin(Fake::new(move |_| Ok(answer.clone()))).await;
        let arguments = json!({"project_id": "p", "title": "T"});
        let error = client.refused("memory_deposit", arguments).await;
        assert_eq!(error["code"], "HOST_PROTOCOL");
    }
}

#[tokio::test]
async fn a_package_that_is_not_there_is_null() {
    let fake = Fake::new(|_| {
        refusing(&Failure::new(Code::AgenticPackageNotFound, "there is no package \"a\""))
    });
    let mut client = Client::begin(fake.clone()).await;
    let result = client.call("memory_pull", json!({"package_id": "a"})).await;
    assert_eq!(result["isError"], false);
    assert_eq!(result["content"][0]["text"], "null");
    assert_eq!(result["content"][1]["text"], "there is no package \"a\"");
    assert!(result.get("structuredContent").is_none());
    assert_eq!(fake.last().target, "/v1/packages/a");
    // To move one that is not there is an error all the same.
    let arguments = json!({"package_id": "a", "review_type": "human"});
    let error = client.refused("memory_flag", arguments).await;
    assert_eq!(error["code"], "package_not_found");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_a_protocol_error_that_names_the_closest() {
    let mut client = Client::begin(Fake::echoing()).await;
    let params = json!({"name": "memory_deposits", "arguments": {}});
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("Did you mean memory_deposit?"), "{message}");
}

#[tokio::test]
async fn every_tool_asks_the_route_that_it_should() {
    let fake = Fake::echoing();
    let mut client = Client::begin(fake.clone()).await;
    for (tool, arguments, method, target) in [
        (
            "memory_sessions",
            json!({"active": true}),
            "GET",
            "/v1/projects/p/sessions?active=true&limit=20&max_tokens=8000",
        ),
        ("memory_pull", json!({}), "GET", "/v1/projects/p/packages?max_tokens=8000"),
        (
            "memory_pull",
            json!({"query": "a b&c", "limit": 3}),
            "GET",
            "/v1/projects/p/packages?mode=relevant&limit=3&query=a%20b%26c",
        ),
        (
            "memory_pull",
            json!({"status": "awaiting_review"}),
            "GET",
            "/v1/projects/p/packages?max_tokens=8000&status=awaiting_review",
        ),
        (
            "memory_orient",
            json!({"format": "bundle", "limit": 3}),
            "GET",
            "/v1/projects/p/orient?format=bundle&limit=3&max_tokens=8000",
        ),
        (
            "memory_orient",
            json!({"window_days": 3, "focus": "retry"}),
            "GET",
            "/v1/projects/p/orient?format=briefing&window_days=3&focus=retry&max_tokens=2000",
        ),
        (
            "memory_digest",
            json!({"focus": "f"}),
            "GET",
            "/v1/orchestrate?project=p&focus=f&snippets=10",
        ),
        ("memory_digest", json!({"all_projects": true}), "GET", "/v1/orchestrate?snippets=10"),
        (
            "memory_flag",
            json!({"package_id": "k", "review_type": "human"}),
            "POST",
            "/v1/packages/k/flag",
        ),
        (
            "memory_review",
            json!({"package_id": "k", "action": "approve"}),
            "POST",
            "/v1/packages/k/review?door=mcp",
        ),
        (
            "memory_review",
            json!({"package_id": "k", "action": "resubmit", "project_id": "q"}),
            "POST",
            "/v1/packages/k/resubmit?project_id=q",
        ),
        (
            "memory_review",
            json!({"package_id": "k", "action": "complete"}),
            "POST",
            "/v1/packages/k/complete",
        ),
        ("memory_revisions", json!({"package_id": "k"}), "GET", "/v1/packages/k/revisions"),
        (
            "memory_fact_assert",
            json!({"subject": "s", "predicate": "p", "value": "v"}),
            "POST",
            "/v1/projects/p/facts?if_changed=true",
        ),
        (
            "memory_fact_invalidate",
            json!({"subject": "s", "predicate": "p"}),
            "DELETE",
            "/v1/projects/p/facts?subject=s&predicate=p&actor=agent%3Atest-client",
        ),
        (
            "memory_facts",
            json!({"history": true}),
            "GET",
            "/v1/projects/p/facts?history=true&max_tokens=8000",
        ),
        ("memory_projects", json!({}), "GET", "/v1/projects?max_tokens=8000"),
    ] {
        let mut arguments = arguments;
        let takes_project = !target.starts_with("/v1/packages") && tool != "memory_projects";
        if takes_project && arguments.get("all_projects").is_none() {
            arguments["project_id"] = "p".into();
        }
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool} {result}");
        let asked = fake.last();
        assert_eq!((asked.method.as_str(), asked.target.as_str()), (method, target), "{tool}");
    }
    let reviews = fake.asked();
    let review = reviews.iter().find(|asked| asked.target.ends_with("/review?door=mcp")).unwrap();
    let actor = json!({"id": "test-client", "type": "agent"});
    assert_eq!(review.body, json!({"outcome": "complete", "actor": actor}));
}

#[tokio::test]
async fn a_session_that_was_left_open_ends_with_its_connection() {
    let fake = Fake::echoing();
    let mut client = Client::begin(fake.clone()).await;
    client.call("memory_session_start", json!({"project_id": "p"})).await;
    client.leave().await.unwrap();
    assert_eq!(
        (fake.last().method.as_str(), fake.last().target.as_str()),
        ("PATCH", "/v1/sessions/sess_1?project_id=p")
    );

    let fake = Fake::echoing();
    Client::begin(fake.clone()).await.leave().await.unwrap();
    assert_eq!(fake.asked().len(), 0);
}

//! The tools that an agent declares in a contract (`agentCapabilities`).
//!
//! Clauses: GGUI-CONTRACT-AGENT-TOOLS.

use accord_contract::{Object, Value};

use crate::contract::{Entries, Reader};

#[derive(Clone, Debug)]
pub struct AgentTool {
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub description: Option<String>,
    /// The name of the MCP server that has it. Together with the tool's name it is an identity.
    pub server: Option<String>,
    /// The version of that server. It is no part of the identity.
    pub server_version: Option<String>,
    /// When it is called.
    pub usage: Option<String>,
}

impl AgentTool {
    /// Reads `agentCapabilities`. Members beside `tools` are kept.
    pub(crate) fn read_all(value: Option<&Value>, reader: &mut Reader) -> Option<Entries<Self>> {
        let field = "agentCapabilities";
        let members = reader.object(value?, field)?;
        let tools = reader.required(members, field, "tools")?;
        Entries::read_value(tools, "agentCapabilities.tools", reader, Self::read)
    }

    fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        reader.only(members, field, &["toolInfo", "serverInfo", "usage", "example"]);
        let usage = reader.text(members, field, "usage");
        let place = format!("{field}.example");
        if let Some(value) = members.get("example")
            && let Some(example) = reader.object(value, &place)
        {
            reader.only(example, &place, &["input", "output"]);
            reader.required(example, &place, "input");
            reader.required(example, &place, "output");
        }
        let place = format!("{field}.serverInfo");
        let info = members.get("serverInfo").and_then(|value| reader.object(value, &place));
        let (mut server, mut server_version) = (None, None);
        if let Some(info) = info {
            reader.only(info, &place, &["name", "version"]);
            reader.required(info, &place, "name");
            server = reader.text(info, &place, "name");
            server_version = reader.text(info, &place, "version");
        }
        let place = format!("{field}.toolInfo");
        let info = reader.required(members, field, "toolInfo")?;
        let info = reader.object(info, &place)?;
        reader.only(info, &place, &["inputSchema", "description", "outputSchema"]);
        let description = reader.text(info, &place, "description");
        let output = info.get("outputSchema");
        let output_schema =
            output.and_then(|schema| reader.schema(schema, &format!("{place}.outputSchema")));
        let input = reader.required(info, &place, "inputSchema")?;
        let input_schema = reader.schema(input, &format!("{place}.inputSchema"))?;
        Some(Self { input_schema, output_schema, description, server, server_version, usage })
    }
}

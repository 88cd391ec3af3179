//! The tools on real folders and against real servers on loopback.

mod files;
mod hostile;
mod network;
mod search;
mod services;

use super::{Secrets, Toolbox, builtin_specs};
use serde_json::{Map, Value, json};
use std::fs;
use tempfile::TempDir;
use toolplan_engine::{
    ports::{CallContext, ErrorClass, ToolError, ToolResult, ToolRuntime},
    settings::NetworkSettings,
    tool::{Binding, Catalog, ToolSpec},
};

/// A folder with files, and the tools on it.
struct Bench {
    folder: TempDir,
    tools: Toolbox,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tools = Toolbox::new(folder.path().to_path_buf(), NetworkSettings::default(), Secrets::default());
        let bench = Self { folder, tools };
        files.iter().for_each(|(path, text)| bench.write(path, text.as_bytes()));
        bench
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
        call(&self.tools, tool, arguments).await
    }

    async fn data(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.unwrap().data
    }

    async fn error(&self, tool: &str, arguments: Value) -> (ErrorClass, String, String) {
        parts(self.call(tool, arguments).await.unwrap_err())
    }
}

async fn call(tools: &Toolbox, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
    let spec = builtin_specs().into_iter().find(|s| s.name == tool).unwrap();
    tools.call(&spec, &object(arguments), &CallContext::default()).await
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn parts(error: ToolError) -> (ErrorClass, String, String) {
    (error.class, error.message, error.hint)
}

/// The values of one field in a list of objects.
fn column<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap_or("-")).collect()
}

#[test]
fn specs_are_complete_and_their_examples_fit_their_schemas() {
    let specs = builtin_specs();
    assert_eq!(specs.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), super::specs::NAMES);
    let (catalog, problems) = Catalog::new(1, specs);
    assert!(problems.is_empty(), "{problems:?}");
    for entry in catalog.iter() {
        let ToolSpec { name, parameters, examples, applicability, .. } = &entry.spec;
        let validator = entry.validator().unwrap();
        assert_eq!(parameters["additionalProperties"], json!(false), "{name}");
        for (argument, schema) in entry.spec.properties().unwrap() {
            assert!(schema["description"].is_string(), "{name}.{argument} is described");
        }
        assert!(!examples.is_empty(), "{name} has an example");
        for example in examples {
            assert!(validator.is_valid(&Value::Object(example.parameters.clone())), "{name}: {:?}", example.parameters);
        }
        // Tools over results have no rule: the plan fills their arguments.
        let Some(rule) = applicability else { continue };
        assert_eq!(entry.spec.required(), [&rule.argument], "{name}: the rule fills the required argument");
    }
}

#[tokio::test]
async fn bindings_without_a_runtime_say_what_to_do() {
    let bench = Bench::new(&[]);
    let check = async |binding: Binding| {
        let spec = ToolSpec { name: "t".into(), binding, ..ToolSpec::default() };
        parts(bench.tools.call(&spec, &Map::new(), &CallContext::default()).await.unwrap_err())
    };
    let mcp = check(Binding::Mcp { server: "files".into(), tool: "read".into() }).await;
    assert_eq!(mcp.0, ErrorClass::Unbound);
    assert!(mcp.1.contains("MCP server files") && mcp.2.contains("does not connect MCP servers"), "{mcp:?}");
    assert_eq!(check(Binding::None).await.0, ErrorClass::Unbound);
    assert_eq!(check(Binding::Builtin { name: "rm_rf".into() }).await.0, ErrorClass::Unbound);
    let method = check(Binding::Http { method: "BREW".into(), url: "https://example.org".into() }).await;
    assert_eq!(method.0, ErrorClass::Unbound);
}

#[tokio::test]
async fn a_mock_waits_and_says_that_it_is_one() {
    let bench = Bench::new(&[]);
    let binding = Binding::Mock { result: json!({"answer": 42}), delay_ms: 30 };
    let spec = ToolSpec { name: "m".into(), binding, ..ToolSpec::default() };
    let started = std::time::Instant::now();
    let result = bench.tools.call(&spec, &Map::new(), &CallContext::default()).await.unwrap();
    assert!(started.elapsed().as_millis() >= 30);
    assert_eq!(result, ToolResult { data: json!({"answer": 42}), confidence: None, sources: vec!["mock".into()] });
}

/// O-09: what is combined stands in the results, every result has its say, and what is missing is named.
#[tokio::test]
async fn results_are_combined_and_checked_word_for_word() {
    let bench = Bench::new(&[]);
    let results = json!([
        {"hits": [{"path": "a.md", "snippet": "The retry policy allows five attempts. Unrelated words follow here."}], "method": "retry policy of the tool itself"},
        {"passages": [{"path": "b.md", "text": "重试之前先看超时。The timeout policy stops an attempt after five minutes."}]},
    ]);
    let arguments = json!({"question": "Compare the retry policy and the timeout policy", "results": results});
    let data = bench.data("combine_results", arguments.clone()).await;
    let sources: Vec<_> = data["sentences"].as_array().unwrap().iter().map(|s| s["source"].as_str().unwrap()).collect();
    assert!(sources.contains(&"a.md") && sources.contains(&"b.md"), "{data}");
    assert!(data["answer"].as_str().unwrap().contains("The retry policy allows five attempts."));
    assert!(!data["answer"].as_str().unwrap().contains("of the tool itself"));
    let checked =
        bench.data("check_coverage", json!({"question": "retry jitter", "results": arguments["results"]})).await;
    assert_eq!((&checked["coverage"], &checked["missing"]), (&json!(0.5), &json!(["jitter"])));
    assert_eq!(
        bench.error("combine_results", json!({"question": "x", "results": "y"})).await.0,
        ErrorClass::Validation
    );
}

//! The matrix of tools and states, why a tool is hidden, policy files, token savings.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::savings::{Conversation, Savings},
    policy::PolicyImport,
    visibility::{MatrixPage, MatrixQuery, WhyQuery, WhyRow},
};

/// A page of the matrix of tools and states.
#[tauri::command]
#[specta::specta]
pub async fn visibility_matrix(workbench: State<'_, Workbench>, query: MatrixQuery) -> Result<MatrixPage, Problem> {
    workbench.visibility_matrix(&query)
}

/// Why the tool is, or is not, visible, for every combination of the query.
#[tauri::command]
#[specta::specta]
pub async fn why_hidden(
    workbench: State<'_, Workbench>,
    tool: String,
    query: WhyQuery,
) -> Result<Vec<WhyRow>, Problem> {
    workbench.why_hidden(&tool, &query)
}

/// Takes a policy file's text into the settings, or says what it would change.
#[tauri::command]
#[specta::specta]
pub async fn import_policy(
    workbench: State<'_, Workbench>,
    text: String,
    try_only: bool,
) -> Result<PolicyImport, Problem> {
    workbench.import_policy(&text, try_only)
}

/// What hiding tools saved in the turns of a planning.
#[tauri::command]
#[specta::specta]
pub async fn token_savings(workbench: State<'_, Workbench>, plan: u32) -> Result<Savings, Problem> {
    workbench.token_savings(plan)
}

/// What hiding tools saved in a conversation recorded elsewhere.
#[tauri::command]
#[specta::specta]
pub async fn conversation_savings(
    workbench: State<'_, Workbench>,
    conversation: Conversation,
) -> Result<Savings, Problem> {
    workbench.conversation_savings(&conversation)
}

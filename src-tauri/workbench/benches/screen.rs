//! One live edit with everything that the window shows, through the Workbench: the tool is stored, the open query is
//! planned again, and the catalog's rows, the matrix and the tool's own page are asked for, as JSON for the window.

use crate::{
    Options, data, runs,
    table::{Table, median, row, timed},
};
use std::sync::Arc;
use toolplan_workbench::{
    Options as WorkbenchOptions, Workbench,
    engine::{
        Problem,
        request::{ExecutionState, Request},
        tool::ToolSpec,
    },
    visibility::MatrixQuery,
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let columns = ["tools", "store", "plan", "its JSON", "rows", "their JSON", "matrix page", "tool", "altogether"];
    let mut times = Table::new("One live edit with everything on screen (ms, medians)", &columns);
    let mut sizes = Table::new("What crosses to the window (kB)", &["tools", "planning", "all rows", "matrix page"]);
    for count in [1_000, 20_000] {
        let specs = data::tools(options, count);
        let query = data::queries(options, 1).remove(0).query;
        let repeat = if options.quick { 3 } else { 15 };
        match runs::block_on(edits(specs, query, repeat)) {
            Ok((parts, bytes)) => {
                let mut row = row![count];
                row.extend(parts.iter().map(|samples| median(samples).into()));
                times.add(row);
                let mut row = row![count];
                row.extend(bytes.iter().map(|bytes| (*bytes as f64 / 1000.0).into()));
                sizes.add(row);
            }
            Err(problem) => times.note(format!("{count} tools: {} ({})", problem.message, problem.hint)),
        }
    }
    times.note("The matrix page has 100 rows of three states. Storing is SQLite's part: a new revision on the disk.");
    vec![times, sizes]
}

async fn edits(specs: Vec<ToolSpec>, query: String, repeat: usize) -> Result<([Vec<f64>; 8], [usize; 3]), Problem> {
    let folder = tempfile::tempdir().expect("a temporary folder can be written");
    let options = WorkbenchOptions { folder: Some(folder.path().into()), environment: Arc::new(|_| None) };
    let workbench = Workbench::open(options).await?;
    workbench.register_tools(specs, "benchmark")?;
    let request = Request { query, state: ExecutionState::Action, intent: "REQ-BENCH".into(), ..Request::default() };
    let mut before = workbench.plan(request.clone(), None).await?.id;
    workbench.catalog(&request, Some(before))?;
    let all = workbench.tool_specs();
    let mut parts: [Vec<f64>; 8] = Default::default();
    let mut bytes = [0; 3];
    for i in 0..repeat {
        let mut spec = all[i * 997 % all.len()].clone();
        spec.description.push_str(" Changed a moment ago.");
        let name = spec.name.clone();
        let (saved, store) = timed(|| workbench.save_tool(spec));
        saved?;
        let began = std::time::Instant::now();
        let view = workbench.plan(request.clone(), Some(before)).await?;
        let plan = began.elapsed().as_secs_f64() * 1000.0;
        before = view.id;
        let (plan_json, plan_encode) = timed(|| serde_json::to_string(&view).map_or(0, |json| json.len()));
        let (rows, listed) = timed(|| workbench.catalog(&request, Some(before)));
        let rows = rows?;
        let (rows_json, rows_encode) = timed(|| serde_json::to_string(&rows).map_or(0, |json| json.len()));
        let query = MatrixQuery { limit: 100, ..MatrixQuery::default() };
        let (page, matrix) = timed(|| workbench.visibility_matrix(&query));
        let page_json = serde_json::to_string(&page?).map_or(0, |json| json.len());
        let (tool, detail) = timed(|| workbench.tool(&name, &request, Some(before)));
        tool?;
        let sum = store + plan + plan_encode + listed + rows_encode + matrix + detail;
        for (samples, ms) in parts.iter_mut().zip([store, plan, plan_encode, listed, rows_encode, matrix, detail, sum])
        {
            samples.push(ms);
        }
        bytes = [plan_json, rows_json, page_json];
    }
    Ok((parts, bytes))
}

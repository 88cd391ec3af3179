//! `read_file`: lines of one text file.

use super::{
    arguments::{Arguments, invalid},
    blocking::Stop,
    sandbox::{Workspace, decode},
};
use serde_json::json;
use toolplan_engine::ports::{ErrorClass, ToolError, ToolResult};

/// Lines that one call gives at most.
const MAX_LINES: usize = 2000;
/// Bytes that one call gives at most: a prompt has to hold them.
const MAX_BYTES: usize = 200_000;

pub(super) fn call(workspace: &Workspace, arguments: &Arguments, stop: &Stop) -> Result<ToolResult, ToolError> {
    let path = arguments.required("file_path")?;
    let start_line = arguments.count("start_line", 1, usize::MAX)?;
    let max_lines = arguments.count("max_lines", 400, MAX_LINES)?;
    let folder = workspace.open()?;
    let place = folder.resolve(path, stop)?;
    if place.is_folder {
        return Err(invalid(format!("{path} is a folder"), "name a file; a search finds the files of a folder"));
    }
    // Searches do not see hidden files either; they hold secrets more often than answers.
    if place.relative.split(['/', '\\']).any(|part| part.starts_with('.')) {
        return Err(ToolError::new(
            ErrorClass::Refused,
            format!("{path} is hidden or lies in a hidden folder"),
            "hidden files are never read; copy what is needed to a file without a dot in front",
        ));
    }
    let unreadable = |reason: String| {
        let hint = "read_file reads text files up to 4 MB; choose another file";
        ToolError::new(ErrorClass::Refused, format!("{path} {reason}"), hint)
    };
    let bytes = folder.read(&place).map_err(unreadable)?;
    let (text, lossy) = decode(&bytes).map_err(unreadable)?;
    let total_lines = text.lines().count();
    if start_line > total_lines.max(1) {
        return Err(invalid(
            format!("{path} has {total_lines} lines; line {start_line} lies behind its end"),
            format!("use a start_line of at most {total_lines}"),
        ));
    }
    let mut shown = String::new();
    let mut lines = 0;
    let mut is_cut = false;
    for line in text.lines().skip(start_line - 1).take(max_lines) {
        let room = MAX_BYTES - shown.len();
        if line.len() >= room {
            let mut end = room.min(line.len());
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            // A line that does not fit is shown in part only where nothing else would be shown.
            if lines == 0 {
                shown.push_str(&line[..end]);
                lines = 1;
            }
            is_cut = true;
            break;
        }
        shown.push_str(line);
        shown.push('\n');
        lines += 1;
    }
    let mut data = json!({
        "path": place.relative,
        "start_line": start_line,
        "lines": lines,
        "text": shown,
        "truncated": is_cut || start_line - 1 + lines < total_lines,
        "total_lines": total_lines,
    });
    if lossy {
        data["read_lossily"] = json!("the file is not valid UTF-8; some characters are replaced");
    }
    Ok(ToolResult { data, confidence: Some(1.0), sources: vec![place.relative] })
}

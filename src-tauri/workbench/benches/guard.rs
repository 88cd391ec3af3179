//! How long the guard takes for a case: reading the model's text, judging every call, adding by rule switched off.

use crate::{
    Options, data,
    table::{Table, median, percentile, row, timed},
};
use toolplan_workbench::eval::{self, guard};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Guard, with the built-in tools (µs a case)",
        &["cases", "count", "median of passes", "slowest case"],
    );
    let Some(folder) = &options.data else {
        table.note("No cases at hand: give --data DIR.");
        return vec![table];
    };
    let passes = if options.quick { 2 } else { 15 };
    for path in data::files(&folder.join("guard"), "") {
        let file = match eval::read_cases::<guard::Case>(&path) {
            Ok(file) => file,
            Err(problem) => {
                table.note(problem.message);
                continue;
            }
        };
        let count = file.cases.len();
        let pass = |cases: &[guard::Case]| timed(|| guard::run(cases).map_or(0, |rows| rows.len())).1 * 1000.0;
        // The first pass compiles patterns.
        pass(&file.cases);
        let times: Vec<f64> = (0..passes).map(|_| pass(&file.cases) / count as f64).collect();
        // The best of several passes for each case: what is left is the case's own and not the machine's.
        let alone = |case: &guard::Case| {
            let times: Vec<f64> = (0..passes).map(|_| pass(std::slice::from_ref(case))).collect();
            percentile(&times, 0.0)
        };
        let slowest = file.cases.iter().map(alone).fold(0.0, f64::max);
        table.add(row![file.name, count, median(&times), slowest]);
    }
    table.note(format!(
        "Medians of {passes} passes over a file. The slowest case is timed alone, with the building of the catalog of \
         built-in tools, which a pass does once."
    ));
    vec![table]
}

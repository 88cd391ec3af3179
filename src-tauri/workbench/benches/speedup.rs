//! Five independent steps whose tools wait: how much of the waiting runs side by side.

use crate::{
    Options,
    runs::{self, Bench, Graph, Waiting},
    table::{Table, median, row},
};
use std::{sync::Arc, time::Duration};
use toolplan_store::Store;

const STEPS: usize = 5;
const WAIT: Duration = Duration::from_millis(100);

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Parallel speed-up: 5 independent steps of 100 ms, journaled in SQLite",
        &["parallel limit", "sum of the steps, ms", "wall time, ms", "speed-up"],
    );
    let repeat = if options.quick { 1 } else { 7 };
    let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
    for limit in [5, 2, 1] {
        let bench = Bench::new(runs::spec(Graph::Parallel, STEPS), limit, Waiting(WAIT));
        let times = runs::block_on(async {
            let mut times = vec![];
            for _ in 0..repeat {
                times.push(bench.run_stored(&store).await);
            }
            times
        });
        let sum = WAIT.as_secs_f64() * 1000.0 * STEPS as f64;
        table.add(row![limit as usize, sum, median(&times), sum / median(&times)]);
    }
    table.note(format!("Medians of {repeat} runs. 5 is the ideal at limit 5, 1.67 at limit 2 and 1 at limit 1."));
    vec![table]
}

//! Tables of figures, as text and as JSON, and the medians that fill them.

use serde_json::{Value, json};
use std::fmt;

/// One table of the report.
pub(crate) struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
    notes: Vec<String>,
}

pub(crate) enum Cell {
    Text(String),
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

/// A figure that may not be at hand.
impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or_else(|| "not at hand".into(), Self::Number)
    }
}

/// A row from values of different kinds.
macro_rules! row {
    ($($cell:expr),+ $(,)?) => { vec![$($crate::table::Cell::from($cell)),+] };
}
pub(crate) use row;

impl Table {
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|c| c.to_string()).collect();
        Self { title: title.into(), columns, rows: vec![], notes: vec![] }
    }

    pub(crate) fn add(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn json(&self) -> Value {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => json!(text),
            Cell::Number(number) => json!(number),
        };
        let rows: Vec<Vec<Value>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        json!({"title": self.title, "columns": self.columns, "rows": rows, "notes": self.notes})
    }
}

/// A Markdown table, aligned so that it reads well as it is.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) => figure(*number),
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(text).collect()).collect();
        let width = |i: usize| {
            let cells = rows.iter().map(|row| row[i].chars().count());
            cells.chain([self.columns[i].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let number = |i: usize| self.rows.iter().all(|row| matches!(row[i], Cell::Number(_)));
        let line = |cells: &[String]| {
            let padded = cells.iter().enumerate().map(|(i, cell)| {
                let width = widths[i];
                if number(i) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
        };
        let rule = widths.iter().enumerate().map(|(i, &width)| {
            let dashes = "-".repeat(width.saturating_sub(1).max(2));
            if number(i) { format!("{dashes}:") } else { format!("{dashes}-") }
        });
        writeln!(f, "### {}\n", self.title)?;
        writeln!(f, "{}", line(&self.columns))?;
        writeln!(f, "| {} |", rule.collect::<Vec<_>>().join(" | "))?;
        for row in &rows {
            writeln!(f, "{}", line(row))?;
        }
        for note in &self.notes {
            write!(f, "\n{note}\n")?;
        }
        Ok(())
    }
}

/// Three digits that matter; whole numbers as they are.
fn figure(number: f64) -> String {
    let decimals = match number.abs() {
        n if n.fract() == 0.0 || n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        n if n >= 1.0 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

/// The value below which `share` of the samples lie (nearest rank); 0 for none.
pub(crate) fn percentile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}

pub(crate) fn median(samples: &[f64]) -> f64 {
    percentile(samples, 0.5)
}

/// The result of `work` and the milliseconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = std::time::Instant::now();
    let result = std::hint::black_box(work());
    (result, began.elapsed().as_secs_f64() * 1000.0)
}

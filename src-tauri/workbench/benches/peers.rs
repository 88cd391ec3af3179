//! The same shapes in Python: `peers.py` runs them and prints JSON.

use crate::Options;
use serde_json::Value;
use std::process::Command;

/// What the script measured; nothing where it could not run.
pub(crate) struct Peers {
    figures: Value,
    about: String,
}

impl Peers {
    pub(crate) fn measure(options: &Options, repeat: usize) -> Self {
        let python = options.python.as_deref().unwrap_or("python3");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers.py");
        let missing = |why: String| Self { figures: Value::Null, about: format!("Peers not at hand: {why}.") };
        let output = match Command::new(python).arg(script).arg(repeat.to_string()).output() {
            Ok(output) => output,
            Err(error) => return missing(format!("{python} cannot be run: {error}")),
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return missing(format!("{python} failed: {}", said.trim().lines().last().unwrap_or("no message")));
        }
        match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(figures) => {
                let about = figures["about"].as_str().unwrap_or_default().to_string();
                Self { figures, about }
            }
            Err(error) => missing(format!("the script's answer cannot be read: {error}")),
        }
    }

    /// Microseconds a step.
    pub(crate) fn get(&self, who: &str, shape: &str, steps: usize) -> Option<f64> {
        self.figures[who][shape][steps.to_string()].as_f64()
    }

    pub(crate) fn about(&self) -> &str {
        &self.about
    }
}

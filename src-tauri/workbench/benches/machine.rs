//! Where and when the figures were taken.

use crate::Options;
use std::{fs, process::Command};

/// What stands above the tables.
pub(crate) fn head(options: &Options) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, m)| m.trim()));
    let data = match &options.data {
        Some(folder) => folder.display().to_string(),
        None => "none given: a synthetic catalog and synthetic queries stand in (--data DIR for real ones)".into(),
    };
    let mut head = vec![
        ("revision", revision()),
        ("date", said("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("machine", format!("{cores} cores, {}", model.unwrap_or("model unknown"))),
        ("load average before", load()),
        ("data", data),
    ];
    if options.quick {
        head.push(("quick", "few repetitions; the figures only show that it works".into()));
    }
    if cfg!(debug_assertions) {
        head.push(("profile", "not optimised: the figures mean nothing".into()));
    }
    head
}

/// The load averages of 1, 5 and 15 minutes. Much above the number of cores: others were at work.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    if averages.is_empty() { "unknown".into() } else { averages.join(" ") }
}

fn revision() -> String {
    let here = env!("CARGO_MANIFEST_DIR");
    let revision = said("git", &["-C", here, "rev-parse", "--short=10", "HEAD"]);
    let changed = said("git", &["-C", here, "status", "--porcelain", "--untracked-files=no"]);
    if changed.is_empty() || changed == "unknown" { revision } else { format!("{revision} with changes") }
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().into(),
        _ => "unknown".into(),
    }
}

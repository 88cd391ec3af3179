//! Faults on purpose: what happens to an attempt, decided by a seed (O-12). Pure: the driver carries them out.

use crate::ports::ErrorClass;
use serde::{Deserialize, Serialize};

/// Which attempts are struck, and how. A rule that states neither tool nor step is about every attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct FaultRule {
    /// Empty means any; `*` at the end matches any rest.
    pub tool: String,
    /// Empty means any.
    pub step: String,
    /// Only so many first attempts of a step; unset means all.
    pub attempts: Option<u32>,
    /// 0..1
    pub probability: f64,
    pub fault: Fault,
}

impl Default for FaultRule {
    fn default() -> Self {
        Self { tool: String::new(), step: String::new(), attempts: None, probability: 1.0, fault: Fault::Hang }
    }
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// It fails at once; the tool is not called.
    Error { class: ErrorClass },
    /// The tool is called so many milliseconds later.
    Delay { ms: u32 },
    /// It never answers; the tool is not called.
    Hang,
    /// The tool's answer arrives cut off, as text.
    Malformed,
    /// It is refused as too frequent, with the pause that is asked for; the tool is not called.
    RateLimit { retry_after_ms: u32 },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Error { class } => write!(f, "error {}", class.name()),
            Self::Delay { ms } => write!(f, "delay of {ms} ms"),
            Self::Hang => write!(f, "no answer"),
            Self::Malformed => write!(f, "malformed answer"),
            Self::RateLimit { retry_after_ms } => write!(f, "rate limit for {retry_after_ms} ms"),
        }
    }
}

/// The fault that strikes this attempt: the first rule that is about it and whose dice fall so. The same for the same
/// seed, whatever else the run does and in whatever order.
pub fn strikes<'a>(rules: &'a [FaultRule], seed: u32, step: &str, tool: &str, attempt: u32) -> Option<&'a Fault> {
    let matches = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern.is_empty() || pattern == name,
    };
    rules.iter().enumerate().find_map(|(number, rule)| {
        let about = matches(&rule.tool, tool)
            && (rule.step.is_empty() || rule.step == step)
            && rule.attempts.is_none_or(|first| attempt <= first);
        (about && dice(seed, &format!("{number}/{step}/{attempt}")) < rule.probability).then_some(&rule.fault)
    })
}

/// A number in 0..1 that depends on nothing but the seed and the text (FNV-1a with a final mix).
pub(crate) fn dice(seed: u32, text: &str) -> f64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut hash = text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((hash ^ (hash >> 33)) >> 11) as f64 / (1_u64 << 53) as f64
}

impl std::str::FromStr for FaultRule {
    type Err = String;

    /// `error:transient`, `delay:500`, `hang`, `malformed`, `rate_limit:2000`; then any of `tool=`, `step=`,
    /// `attempts=`, `p=`, separated by spaces or commas: `error:transient tool=web_fetch p=0.3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
        let what = words.next().ok_or("a fault has no name")?;
        let (name, value) = what.split_once(':').unwrap_or((what, ""));
        let number = |text: &str| text.parse().map_err(|_| format!("{name} takes milliseconds, not {text:?}"));
        let fault = match name {
            "error" => Fault::Error { class: ErrorClass::named(if value.is_empty() { "transient" } else { value })? },
            "delay" => Fault::Delay { ms: number(value)? },
            "hang" => Fault::Hang,
            "malformed" => Fault::Malformed,
            "rate_limit" => Fault::RateLimit { retry_after_ms: number(if value.is_empty() { "1000" } else { value })? },
            other => {
                return Err(format!("there is no fault {other:?}; choose error, delay, hang, malformed or rate_limit"));
            }
        };
        let mut rule = Self { fault, ..Self::default() };
        for word in words {
            let wrong = || format!("{word:?} is none of tool=, step=, attempts=, p=");
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            match key {
                "tool" => rule.tool = value.into(),
                "step" => rule.step = value.into(),
                "attempts" => rule.attempts = Some(value.parse().map_err(|_| wrong())?),
                "p" => {
                    let chance = value.parse().ok().filter(|p| (0.0..=1.0).contains(p));
                    rule.probability = chance.ok_or_else(|| format!("p takes a number from 0 to 1, not {value:?}"))?;
                }
                _ => return Err(wrong()),
            }
        }
        Ok(rule)
    }
}

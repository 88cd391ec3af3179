//! Settings that environment variables decide (O-13). Environment before workspace before defaults.

use crate::{Problem, Workbench};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use toolplan_engine::{
    settings::{Backoff, Settings},
    text::middle_truncate,
};

/// What the environment says about settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Overrides {
    temperature: Option<f32>,
    timeout_ms: Option<u32>,
    max_retries: Option<u32>,
    backoff: Option<Backoff>,
    parallel_limit: Option<u32>,
    cache_enabled: Option<bool>,
    cache_ttl_s: Option<u32>,
}

/// A setting, its value, and who decides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SettingOrigin {
    /// Its path in the settings: `run.parallel_limit`.
    pub path: String,
    pub source: SettingSource,
    /// The environment variable that can decide it, where there is one.
    pub variable: Option<String>,
    /// Text as it is, everything else as JSON, with the middle of long values left out.
    pub value: String,
}

/// Who decides a setting, the first that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    Environment,
    /// The workspace has another value than the default.
    Workspace,
    Default,
}

/// Characters of a value in a [`SettingOrigin`].
const VALUE_CHARS: usize = 120;

impl Overrides {
    /// Reads the variables of source 001. One that makes no sense is a problem and counts as unset.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>, problems: &mut Vec<Problem>) -> Self {
        let mut all = Self::default();
        let mut each = |name: &str, means: &str, take: &mut dyn FnMut(&str) -> bool| {
            let Some(text) = get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
                return;
            };
            if !take(&text) {
                let shown: String = text.chars().take(40).collect();
                problems.push(Problem::new(
                    "settings.environment",
                    format!("{name} is {shown:?} and counts as unset"),
                    format!("set {name} to {means}"),
                ));
            }
        };
        fn set<T>(to: &mut Option<T>, value: Option<T>) -> bool {
            let is_some = value.is_some();
            *to = value;
            is_some
        }
        let number = |text: &str, from: u32, to: u32| text.parse().ok().filter(|n| (from..=to).contains(n));
        // The temperature of a configured provider is checked with the provider.
        let temperature = |text: &str| text.parse().ok().filter(|t: &f32| (0.0..=2.0).contains(t));
        each("TOOL_PLANNER_TEMPERATURE", "a number from 0 to 2", &mut |t| set(&mut all.temperature, temperature(t)));
        each("TOOL_DEFAULT_TIMEOUT", "milliseconds", &mut |t| set(&mut all.timeout_ms, number(t, 1, u32::MAX)));
        each("TOOL_MAX_RETRIES", "a number from 0 to 20", &mut |t| set(&mut all.max_retries, number(t, 0, 20)));
        each("TOOL_RETRY_BACKOFF", "exponential, linear or fixed", &mut |t| set(&mut all.backoff, Backoff::named(t)));
        each("TOOL_PARALLEL_LIMIT", "a number from 1 to 1000", &mut |t| {
            set(&mut all.parallel_limit, number(t, 1, 1000))
        });
        each("TOOL_RESULT_CACHE_ENABLED", "true or false", &mut |t| set(&mut all.cache_enabled, flag(t)));
        each("TOOL_RESULT_CACHE_TTL", "seconds", &mut |t| set(&mut all.cache_ttl_s, number(t, 0, u32::MAX)));
        all
    }

    /// Each setting that a variable can decide: its path, the variable, and whether it does.
    fn variables(&self) -> [(&'static str, &'static str, bool); 7] {
        [
            ("planner.temperature", "TOOL_PLANNER_TEMPERATURE", self.temperature.is_some()),
            ("run.timeout_ms", "TOOL_DEFAULT_TIMEOUT", self.timeout_ms.is_some()),
            ("run.retry.max_retries", "TOOL_MAX_RETRIES", self.max_retries.is_some()),
            ("run.backoff", "TOOL_RETRY_BACKOFF", self.backoff.is_some()),
            ("run.parallel_limit", "TOOL_PARALLEL_LIMIT", self.parallel_limit.is_some()),
            ("run.cache.enabled", "TOOL_RESULT_CACHE_ENABLED", self.cache_enabled.is_some()),
            ("run.cache.ttl_s", "TOOL_RESULT_CACHE_TTL", self.cache_ttl_s.is_some()),
        ]
    }

    /// Puts what the environment says over `settings`.
    pub(crate) fn apply(&self, settings: &mut Settings) {
        fn over<T: Clone>(to: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                *to = value.clone();
            }
        }
        let run = &mut settings.run;
        over(&mut settings.planner.temperature, &self.temperature);
        over(&mut run.timeout_ms, &self.timeout_ms);
        over(&mut run.retry.max_retries, &self.max_retries);
        over(&mut run.backoff, &self.backoff);
        over(&mut run.parallel_limit, &self.parallel_limit);
        over(&mut run.cache.enabled, &self.cache_enabled);
        over(&mut run.cache.ttl_s, &self.cache_ttl_s);
    }

    /// What is to be stored when somebody saves settings that they saw with the environment over them: the workspace
    /// keeps its own values where the environment decides.
    pub(crate) fn keep_own(&self, saved: &mut Settings, own: &Settings) {
        let from_own = Self {
            temperature: self.temperature.map(|_| own.planner.temperature),
            timeout_ms: self.timeout_ms.map(|_| own.run.timeout_ms),
            max_retries: self.max_retries.map(|_| own.run.retry.max_retries),
            backoff: self.backoff.map(|_| own.run.backoff),
            parallel_limit: self.parallel_limit.map(|_| own.run.parallel_limit),
            cache_enabled: self.cache_enabled.map(|_| own.run.cache.enabled),
            cache_ttl_s: self.cache_ttl_s.map(|_| own.run.cache.ttl_s),
        };
        from_own.apply(saved);
    }
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

impl Workbench {
    /// Every setting with its value and who decides it (O-13), in the order of the settings; who plans comes first.
    pub fn setting_origins(&self) -> Vec<SettingOrigin> {
        let inner = &self.inner;
        let own = inner.settings.read().expect("no writer panics").clone();
        let provider = &inner.provider;
        let (name, model) = provider.label.split_once('/').unwrap_or((provider.label.as_str(), "none"));
        let source = if provider.configured { SettingSource::Environment } else { SettingSource::Default };
        let planner = |path: &str, variable: &str, value: &str| SettingOrigin {
            path: path.into(),
            source,
            variable: Some(variable.into()),
            value: value.into(),
        };
        let mut all = vec![
            planner("planner.provider", "TOOL_PLANNER_LLM", name),
            planner("planner.model", "TOOL_PLANNER_MODEL", model),
        ];
        let by_path = |settings: &Settings| leaves(settings).into_iter().collect::<HashMap<_, _>>();
        let (own, defaults, variables) = (by_path(&own), by_path(&Settings::default()), inner.overrides.variables());
        for (path, value) in leaves(&self.settings()) {
            let variable = variables.iter().find(|(of, ..)| *of == path);
            let source = match variable {
                Some((_, _, true)) => SettingSource::Environment,
                _ if own.get(&path) != defaults.get(&path) => SettingSource::Workspace,
                _ => SettingSource::Default,
            };
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            let value = middle_truncate(&value, VALUE_CHARS);
            all.push(SettingOrigin { path, source, variable: variable.map(|(_, name, _)| name.to_string()), value });
        }
        all
    }
}

/// The settings one by one, with their paths. A list is one setting.
fn leaves(settings: &Settings) -> Vec<(String, Value)> {
    fn walk(path: &str, value: Value, into: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                    walk(&path, value, into);
                }
            }
            leaf => into.push((path.into(), leaf)),
        }
    }
    let mut all = vec![];
    walk("", serde_json::to_value(settings).unwrap_or_default(), &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (Overrides, Vec<Problem>) {
        let variables: HashMap<_, _> = variables.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let mut problems = vec![];
        (Overrides::read(|name| variables.get(name).cloned(), &mut problems), problems)
    }

    /// O-13: every name of source 001 decides its setting, and a workspace keeps its own values below them.
    #[test]
    fn the_environment_wins_and_is_not_stored() {
        let (all, problems) = read(&[
            ("TOOL_PLANNER_TEMPERATURE", "0.7"),
            ("TOOL_DEFAULT_TIMEOUT", "5000"),
            ("TOOL_MAX_RETRIES", "1"),
            ("TOOL_RETRY_BACKOFF", "linear"),
            ("TOOL_PARALLEL_LIMIT", " 9 "),
            ("TOOL_RESULT_CACHE_ENABLED", "false"),
            ("TOOL_RESULT_CACHE_TTL", "60"),
        ]);
        assert_eq!(problems, []);
        let mut own = Settings::default();
        own.run.parallel_limit = 3;
        let mut seen = own.clone();
        all.apply(&mut seen);
        let run = &seen.run;
        assert_eq!((run.timeout_ms, run.retry.max_retries, run.backoff), (5000, 1, Backoff::Linear));
        assert_eq!((run.parallel_limit, run.cache.enabled, run.cache.ttl_s), (9, false, 60));
        assert_eq!(seen.planner.temperature, 0.7);
        seen.run.jitter_percent = 10;
        all.keep_own(&mut seen, &own);
        own.run.jitter_percent = 10;
        assert_eq!(seen, own, "only what the person changed is stored");
    }

    #[test]
    fn nonsense_counts_as_unset() {
        let (all, problems) =
            read(&[("TOOL_PARALLEL_LIMIT", "many"), ("TOOL_MAX_RETRIES", "-1"), ("TOOL_RESULT_CACHE_TTL", "")]);
        assert_eq!(all, Overrides::default());
        assert_eq!(problems.len(), 2);
        assert!(
            problems[1].message.contains("TOOL_PARALLEL_LIMIT") || problems[0].message.contains("TOOL_MAX_RETRIES")
        );
    }
}

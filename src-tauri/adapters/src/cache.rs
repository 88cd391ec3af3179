//! Results of harmless calls, kept in memory for a while (O-08). What may be kept, and under which key, is the engine's
//! decision; keeping, forgetting and calling once for many are moka's.

use async_trait::async_trait;
use futures::future::BoxFuture;
use moka::future::Cache;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use toolplan_engine::{
    ports::{CacheKey, Cached, ResultCache, ToolError, ToolResult},
    settings::CacheSettings,
};

/// One cache for all runs of a workspace. Empty when the program starts.
pub struct MemoryCache {
    results: Cache<CacheKey, (Arc<ToolResult>, Instant)>,
}

impl MemoryCache {
    pub fn new(settings: &CacheSettings) -> Self {
        let results = Cache::builder()
            .max_capacity(settings.max_entries.into())
            .time_to_live(Duration::from_secs(settings.ttl_s.into()))
            .build();
        Self { results }
    }
}

#[async_trait]
impl ResultCache for MemoryCache {
    async fn get_or_call(
        &self,
        key: CacheKey,
        call: BoxFuture<'_, Result<ToolResult, ToolError>>,
    ) -> Result<(ToolResult, Option<Cached>), ToolError> {
        let asked = Instant::now();
        let called = AtomicBool::new(false);
        let made = async {
            called.store(true, Ordering::Relaxed);
            call.await.map(|result| (Arc::new(result), Instant::now()))
        };
        let entry = self.results.entry(key).or_try_insert_with(made).await.map_err(|error| (*error).clone())?;
        let (result, at) = entry.into_value();
        let age_ms = u32::try_from(asked.saturating_duration_since(at).as_millis()).unwrap_or(u32::MAX);
        let cached = (!called.into_inner()).then_some(Cached { age_ms });
        Ok(((*result).clone(), cached))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::atomic::AtomicU32;
    use toolplan_engine::ports::ErrorClass;

    fn cache(ttl_s: u32) -> MemoryCache {
        MemoryCache::new(&CacheSettings { ttl_s, ..CacheSettings::default() })
    }

    async fn ask(cache: &MemoryCache, key: &str, calls: &AtomicU32, ms: u64, fails: bool) -> Result<bool, ErrorClass> {
        let call = async {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(ms)).await;
            match fails {
                true => Err(ToolError::new(ErrorClass::Transient, "", "")),
                false => Ok(ToolResult { data: json!(call), confidence: None, sources: vec![] }),
            }
        };
        let got = cache.get_or_call(key.into(), Box::pin(call)).await;
        got.map(|(_, cached)| cached.is_some()).map_err(|error| error.class)
    }

    /// O-08: called once per key, however many ask at the same time; failures are asked for again; results grow old.
    #[tokio::test]
    async fn one_call_serves_all_for_a_while() {
        let (cache, calls) = (cache(1), AtomicU32::new(0));
        let all = futures::future::join_all((0..10).map(|_| ask(&cache, "a", &calls, 20, false))).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(all.iter().filter(|hit| **hit == Ok(true)).count(), 9);
        assert_eq!(ask(&cache, "a", &calls, 0, false).await, Ok(true));
        assert_eq!(ask(&cache, "b", &calls, 0, false).await, Ok(false));
        assert_eq!(ask(&cache, "c", &calls, 0, true).await, Err(ErrorClass::Transient));
        assert_eq!(ask(&cache, "c", &calls, 0, false).await, Ok(false), "a failure is not kept");
        tokio::time::sleep(Duration::from_millis(1100)).await;
        assert_eq!(ask(&cache, "a", &calls, 0, false).await, Ok(false), "300 s by default, 1 s here");
    }

    /// O-08: who makes the call may be given up; those who waited for it make it then.
    #[tokio::test]
    async fn a_call_that_is_given_up_is_made_by_the_next() {
        let (cache, calls) = (cache(300), AtomicU32::new(0));
        let first = ask(&cache, "a", &calls, 60_000, false);
        let given_up = tokio::time::timeout(Duration::from_millis(20), first);
        let second = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            ask(&cache, "a", &calls, 0, false).await
        };
        let (first, second) = tokio::join!(given_up, second);
        assert!(first.is_err());
        assert_eq!((second, calls.load(Ordering::Relaxed)), (Ok(false), 2));
    }
}

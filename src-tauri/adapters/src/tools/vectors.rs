//! Local vectors without a model: hashed character n-grams and words, weighed by tf-idf, compared by cosine.
//!
//! They find spelling variants, word forms and parts of names that exact search misses. They know no synonyms, and
//! the results say so. Knows nothing of files on disk; it reads a snapshot of the index.

use super::{
    blocking::Stop,
    bm25::Scope,
    index::{Snapshot, hash_characters},
    words::{Run, normalise, runs, significant_runs, stem},
};
use std::collections::HashMap;
use toolplan_engine::ports::ToolError;

/// What the results say about the vectors.
pub(super) const DESCRIPTION: &str = "hashed character and word n-grams, tf-idf, 1024 dimensions (no neural model)";
const DIMENSIONS: usize = 1024;
/// Cosine below which a passage is no hit. Unrelated text of this size shares some n-grams by chance.
pub(super) const FLOOR: f32 = 0.06;

/// The vectors of a snapshot.
pub(super) struct VectorSpace {
    /// How many passages hold a feature, by its hash.
    holders: HashMap<u32, u32>,
    vectors: Vec<Packed>,
}

/// A vector of length 1 with a byte per dimension: 55,000 passages fit in 56 MB.
struct Packed {
    values: Box<[i8]>,
    scale: f32,
}

impl VectorSpace {
    /// Reads every passage twice: for the weights, and for the vectors.
    pub(super) fn build(snapshot: &Snapshot, stop: &Stop) -> Result<Self, ToolError> {
        let mut holders: HashMap<u32, u32> = HashMap::new();
        for id in 0..snapshot.len() {
            stop.check()?;
            features_of(snapshot, id).into_keys().for_each(|feature| *holders.entry(feature).or_default() += 1);
        }
        let mut space = Self { holders, vectors: Vec::with_capacity(snapshot.len()) };
        for id in 0..snapshot.len() {
            stop.check()?;
            let vector = space.vector(features_of(snapshot, id), snapshot.len());
            space.vectors.push(pack(&vector));
        }
        Ok(space)
    }

    /// Ids and cosines of the `top` nearest passages in the scope, nearest first.
    pub(super) fn nearest(
        &self,
        query: &str,
        snapshot: &Snapshot,
        scope: &Scope,
        top: usize,
        stop: &Stop,
    ) -> Result<Vec<(usize, f32)>, ToolError> {
        let mut features = HashMap::new();
        for run in significant_runs(query) {
            add_features(&run, &mut features);
        }
        if features.is_empty() {
            runs(&normalise(query)).iter().for_each(|run| add_features(run, &mut features));
        }
        let query = self.vector(features, snapshot.len());
        let mut hits = vec![];
        for (id, vector) in self.vectors.iter().enumerate() {
            if id % 1024 == 0 {
                stop.check()?;
            }
            let cosine = vector.scale * vector.values.iter().zip(&query).map(|(v, q)| f32::from(*v) * q).sum::<f32>();
            if cosine >= FLOOR && scope.holds(&snapshot.get(id).0.path) {
                hits.push((id, cosine.min(1.0)));
            }
        }
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(top);
        Ok(hits)
    }

    /// The weighed features, each at its hashed place with its hashed sign, at length 1.
    ///
    /// A feature that no passage holds counts for the length alone: at its place it could only meet others by chance.
    fn vector(&self, features: HashMap<u32, u32>, passages: usize) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSIONS];
        let mut unknown = 0.0;
        for (feature, count) in features {
            let holders = self.holders.get(&feature).copied().unwrap_or(0);
            let rarity = ((1.0 + passages as f32) / (1.0 + holders as f32)).ln() + 1.0;
            let weight = (1.0 + (count as f32).ln()) * rarity;
            if holders == 0 {
                unknown += weight * weight;
                continue;
            }
            // The upper bits choose the sign, the lower ones the place.
            let sign = if feature >> 31 == 0 { 1.0 } else { -1.0 };
            vector[feature as usize % DIMENSIONS] += sign * weight;
        }
        let length = (vector.iter().map(|v| v * v).sum::<f32>() + unknown).sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|v| *v /= length);
        }
        vector
    }
}

fn pack(vector: &[f32]) -> Packed {
    let largest = vector.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    Packed { values: vector.iter().map(|v| (v / scale).round() as i8).collect(), scale }
}

fn features_of(snapshot: &Snapshot, id: usize) -> HashMap<u32, u32> {
    let (_, passage) = snapshot.get(id);
    let mut features = HashMap::new();
    for text in [&passage.passage.text, &passage.passage.heading] {
        runs(&normalise(text)).iter().for_each(|run| add_features(run, &mut features));
    }
    features
}

/// Words count as themselves and by their groups of three and four letters; Chinese by its characters, pairs and
/// triples.
fn add_features(run: &Run, features: &mut HashMap<u32, u32>) {
    let mut add = |kind: char, characters: &[char]| {
        *features.entry(hash_characters(kind, characters)).or_default() += 1;
    };
    match run {
        Run::Word(word) => {
            let stem: Vec<char> = stem(word).chars().collect();
            add('w', &stem);
            let bounded: Vec<char> = "<".chars().chain(word.chars()).chain(">".chars()).collect();
            for length in [3, 4] {
                bounded.windows(length).for_each(|gram| add('g', gram));
            }
        }
        Run::Cjk(run) => {
            for length in [1, 2, 3] {
                run.windows(length).for_each(|gram| add('c', gram));
            }
        }
    }
}

//! Texts that say nearly the same, without comparing all with all: MinHash signatures in bands.
//!
//! Each text is a set of overlapping triples of words. Texts that share a band of their signatures are compared in full;
//! of texts whose sets overlap by four fifths, nineteen of twenty pairs share one.

use crate::discovery::plain_words;

/// From this overlap (shared over all triples) on, two texts say nearly the same.
pub const NEAR: f32 = 0.8;

const ROWS: usize = 4;
const BANDS: usize = 6;
/// Shorter texts have too few triples to be near: they are the same or not.
const SHORT: usize = 6;

/// A text, for finding its like.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signature {
    /// Sorted, without repeats.
    triples: Vec<u64>,
    pub bands: Vec<u64>,
}

impl Signature {
    pub fn of(text: &str) -> Self {
        let words = plain_words(text);
        if words.is_empty() {
            return Self::default();
        }
        let hashes: Vec<u64> = words.iter().map(|word| hash(word)).collect();
        let mut triples: Vec<u64> = match hashes.len() < SHORT {
            true => vec![hashes.iter().fold(1, |all, h| mix(all ^ h))],
            false => hashes.windows(3).map(|w| w.iter().fold(7, |all, h| mix(all ^ h))).collect(),
        };
        triples.sort_unstable();
        triples.dedup();
        let row = |row: usize| {
            let seed = mix(row as u64 + 1);
            triples.iter().map(|t| mix(t ^ seed)).min().unwrap_or_default()
        };
        let band = |band: usize| (0..ROWS).fold(band as u64 + 1, |all, i| mix(all ^ row(band * ROWS + i)));
        Self { bands: (0..BANDS).map(band).collect(), triples }
    }

    /// Shared over all triples, 0..1.
    pub fn overlap(&self, other: &Self) -> f32 {
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < self.triples.len() && j < other.triples.len() {
            match self.triples[i].cmp(&other.triples[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    (i, j) = (i + 1, j + 1);
                    shared += 1;
                }
            }
        }
        let all = self.triples.len() + other.triples.len() - shared;
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }
}

/// FNV-1a.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads the bits (the finaliser of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_texts_share_a_band_and_others_do_not() {
        let base = "Lists the open issues of a repository with their labels, assignees, milestones and the date of the last comment";
        let near = base.replace("the date", "the day");
        let far =
            "Deletes a branch of a repository after its pull request was merged, and says which commit it pointed to";
        let [a, b, c] = [base, near.as_str(), far].map(Signature::of);
        assert!(a.overlap(&b) > 0.6 && a.overlap(&c) < 0.1, "{} {}", a.overlap(&b), a.overlap(&c));
        assert!(a.bands.iter().any(|band| b.bands.contains(band)));
        assert!(!a.bands.iter().any(|band| c.bands.contains(band)));
        assert_eq!(Signature::of("Gets a user").overlap(&Signature::of("gets a  USER")), 1.0);
        assert_eq!(Signature::of("Gets a user").overlap(&Signature::of("Gets an issue")), 0.0);
        assert_eq!(Signature::of("").overlap(&Signature::of("")), 0.0);
    }
}

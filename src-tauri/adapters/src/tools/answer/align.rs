//! Two sentences laid beside each other: what both state in their own way, and the word that one has in another's place.

use super::{
    statement::{Statement, sequence, words},
    support::SAME_SUBJECT,
};
use std::collections::HashSet;
use toolplan_engine::text::is_cjk;

/// Words of a sentence that are aligned with another's.
const ALIGNED: usize = 120;

/// The words of facts that both sentences state, each in its own way: "5 minutes" and "300 s".
pub(super) struct Agreed {
    pub(super) words: HashSet<String>,
    /// As they stand in a sequence.
    tokens: HashSet<String>,
}

impl Agreed {
    pub(super) fn of(a: &Statement, b: &Statement) -> Self {
        let mut agreed = Self { words: HashSet::new(), tokens: HashSet::new() };
        let by = |of: &Statement, other: &Statement| {
            of.facts
                .iter()
                .filter(|f| other.facts.iter().any(|o| f.is_in(o) || o.is_in(f)))
                .map(|f| f.text.clone())
                .collect::<Vec<_>>()
        };
        for text in by(a, b).into_iter().chain(by(b, a)) {
            agreed.words.extend(words(&text));
            agreed.tokens.extend(sequence(&text).into_iter().map(|token| token.0));
        }
        agreed
    }
}

/// One word, or few, in the place of others in sentences that are otherwise alike: what the claim says there, and what
/// the result says.
pub(super) fn swapped(claim: &Statement, said: &Statement, agreed: &Agreed) -> Option<(String, String)> {
    let (own, its) = (cut(&claim.sequence), cut(&said.sequence));
    let matched = common(own, its);
    if matched.is_empty() || (matched.len() as f32) < SAME_SUBJECT * own.len() as f32 {
        return None;
    }
    let mut gaps = vec![];
    let (mut a, mut b) = (0, 0);
    for &(i, j) in matched.iter().chain([&(own.len(), its.len())]) {
        gaps.push((&own[a..i.max(a)], &its[b..j.max(b)]));
        (a, b) = (i + 1, j + 1);
    }
    let last = gaps.len() - 1;
    let spelled = |gap: &[(String, String)], other: &[(String, String)]| -> Vec<String> {
        let differs =
            |word: &&(String, String)| other.iter().all(|o| o.0 != word.0) && !agreed.tokens.contains(&word.0);
        gap.iter().filter(differs).map(|word| word.1.clone()).collect()
    };
    gaps.into_iter().enumerate().find_map(|(i, (a, b))| {
        let (mine, theirs) = (spelled(a, its), spelled(b, own));
        let han = mine.iter().chain(&theirs).all(|w| w.chars().all(is_cjk));
        let most = if han { 4 } else { 2 };
        // What follows the end of a shorter sentence is no swap of its last word.
        let at_edge = (i == last || i == 0) && theirs.len() > mine.len();
        let is_swap = !mine.is_empty() && !theirs.is_empty() && mine.len() <= most && theirs.len() <= most && !at_edge;
        // Names in Chinese may share a character with their neighbours: they are told whole.
        let joined = |words: Vec<String>, gap: &[(String, String)]| match han {
            true => gap.iter().map(|w| w.1.as_str()).collect::<String>(),
            false => words.join(" "),
        };
        is_swap.then(|| (joined(mine, a), joined(theirs, b)))
    })
}

fn cut(sequence: &[(String, String)]) -> &[(String, String)] {
    &sequence[..sequence.len().min(ALIGNED)]
}

/// The pairs of places of the longest common subsequence.
fn common(a: &[(String, String)], b: &[(String, String)]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0_u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i].0 == b[j].0 {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = vec![];
    while i < a.len() && j < b.len() {
        if a[i].0 == b[j].0 {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

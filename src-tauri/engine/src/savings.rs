//! What hiding tools saved over a conversation: gross, overhead, net (V-10).
//!
//! Gross is the tokens of the definitions that a prompt leaves out. Overhead is what hiding them costs: text that stands
//! in the prompt only because tools are hidden, searches and their results that later prompts repeat, prompts that are
//! sent only to search or to select an intent, and prompt caches lost because the tools of the next prompt differ.
//! Net is the difference, and may be negative. Everything is counted in fresh input tokens.
//!
//! Pure arithmetic over counts; what they are counts of comes from [`crate::turns`] or from a file.

use crate::{Problem, ports::TokenCounter, settings::SavingsSettings, tool::Catalog};
use serde::{Deserialize, Serialize};

/// One prompt of a conversation and the planning calls of its reply, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct TurnTokens {
    /// How many tools are defined in the prompt.
    pub tools: u32,
    pub definitions: u32,
    /// Instructions, query and other messages: what would stand there with all tools shown.
    pub base: u32,
    /// Text that stands there only because tools are hidden: how to select an intent, hints, the directory.
    pub blocks: u32,
    /// Searches, selections and their results from earlier turns, repeated in this prompt.
    pub carried: u32,
    /// The searches and selections that this turn's reply makes.
    pub calls: u32,
    /// How much of the prompt's beginning is that of the prompt before.
    pub prefix: u32,
    /// The reply only searched or selected: with all tools shown this prompt would not have been sent.
    pub extra: bool,
}

impl TurnTokens {
    /// Tokens of the whole prompt.
    pub fn prompt(&self) -> u32 {
        self.definitions + self.base + self.blocks + self.carried
    }
}

/// One turn's savings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SavingsRow {
    /// From 1.
    pub turn: u32,
    pub tokens: TurnTokens,
    pub prompt: u32,
    /// Definitions left out; 0 in an extra turn, which would not have been sent at all.
    pub gross: f64,
    pub blocks: f64,
    /// Calls and results: what the reply says, and what the prompt repeats of earlier turns.
    pub searches: f64,
    /// The rest of an extra turn's prompt.
    pub extra_turn: f64,
    /// What the cache would have spared, had the tools before stayed the same.
    pub lost_cache: f64,
    /// The sum of the four before.
    pub overhead: f64,
    pub net: f64,
    /// Tokens of the prompt that the provider may take from its cache.
    pub cached: u32,
    /// The unchanged beginning as a part of the prompt before, 0..1; null for the first turn.
    pub stability: Option<f32>,
}

/// A conversation's savings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Savings {
    pub encoding: String,
    /// False: the model's own tokenizer may count otherwise.
    pub exact: bool,
    pub full_tools: u32,
    /// Tokens of the definitions of all tools.
    pub full: u32,
    pub rows: Vec<SavingsRow>,
    pub gross: f64,
    pub overhead: f64,
    pub net: f64,
}

/// The savings of `turns` against prompts with all tools.
pub fn of(
    turns: &[TurnTokens],
    full: (u32, u32),
    counter: &dyn TokenCounter,
    exact: bool,
    prices: &SavingsSettings,
) -> Savings {
    let (full_tools, full) = full;
    let mut rows = vec![];
    let mut before: Option<u32> = None;
    let spared = 1.0 - f64::from(prices.cached_price.clamp(0.0, 1.0));
    let cacheable = |tokens: u32| if tokens >= prices.min_cached { tokens } else { 0 };
    for (turn, &tokens) in (1..).zip(turns) {
        let prompt = tokens.prompt();
        let cached = cacheable(tokens.prefix.min(prompt));
        // A conversation only grows: with the same tools, the whole prompt before would be this one's beginning.
        let could_be = before.map_or(0, |before| cacheable(before.min(prompt.max(before))));
        let lost_cache = f64::from(could_be.saturating_sub(cached)) * spared;
        let gross = if tokens.extra { 0.0 } else { f64::from(full) - f64::from(tokens.definitions) };
        let blocks = f64::from(tokens.blocks);
        let searches = f64::from(tokens.carried + tokens.calls);
        let extra_turn = if tokens.extra { f64::from(tokens.definitions + tokens.base) } else { 0.0 };
        let overhead = blocks + searches + extra_turn + lost_cache;
        rows.push(SavingsRow {
            turn,
            tokens,
            prompt,
            gross,
            blocks,
            searches,
            extra_turn,
            lost_cache,
            overhead,
            net: gross - overhead,
            cached,
            stability: before.map(|before| tokens.prefix.min(before) as f32 / before.max(1) as f32),
        });
        before = Some(prompt);
    }
    let sum = |of: fn(&SavingsRow) -> f64| rows.iter().map(of).sum();
    Savings {
        encoding: counter.encoding().into(),
        exact,
        full_tools,
        full,
        gross: sum(|r| r.gross),
        overhead: sum(|r| r.overhead),
        net: sum(|r| r.net),
        rows,
    }
}

/// A prompt as its beginning is compared: tools in order, then texts in order.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    /// Name and tokens of each definition.
    pub tools: Vec<(String, u32)>,
    pub texts: Vec<String>,
}

impl Pieces {
    /// Tokens of the beginning that both prompts share. Providers put the tools before everything else, so a difference
    /// among them ends it.
    pub fn common(&self, other: &Self, counter: &dyn TokenCounter) -> u32 {
        let tools = self.tools.iter().zip(&other.tools).take_while(|(a, b)| a == b);
        let (count, mut tokens) = tools.fold((0, 0), |(n, sum), (tool, _)| (n + 1, sum + tool.1));
        if count < self.tools.len() || count < other.tools.len() {
            return tokens;
        }
        for (a, b) in self.texts.iter().zip(&other.texts) {
            if a == b {
                tokens += counter.count(a);
                continue;
            }
            let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
            let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
            return tokens + counter.count(&a[..end]);
        }
        tokens
    }
}

/// A conversation recorded elsewhere, as a JSON file states it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct Conversation {
    /// Names of all tools that there are; empty means the catalog's.
    pub all_tools: Vec<String>,
    /// Tokens of definitions that the catalog does not have, by name.
    pub definitions: std::collections::BTreeMap<String, u32>,
    pub turns: Vec<ConversationTurn>,
}

/// One prompt and what its reply searched for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct ConversationTurn {
    /// Names of the tools whose definitions stand in the prompt, in their order.
    pub tools: Vec<String>,
    /// The other parts of the prompt, in their order; the searches of earlier turns are added by themselves.
    pub blocks: Vec<TextBlock>,
    /// The searches and selections that the reply makes.
    pub calls: Vec<SearchCall>,
    /// Whether the prompt was sent only for them; unset means: yes, where there are calls and another turn follows.
    pub extra: Option<bool>,
}

/// A part of a prompt: its text, or its tokens where the text is not at hand.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct TextBlock {
    pub name: String,
    pub text: String,
    /// Wins over `text`.
    pub tokens: Option<u32>,
    /// It stands there only because tools are hidden.
    pub overhead: bool,
}

/// A search or selection, with the tokens of its call and of its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct SearchCall {
    pub tool: String,
    pub call: u32,
    pub result: u32,
}

/// The savings of a recorded conversation. Errors when a tool's tokens are known neither to it nor to the catalog.
pub fn of_conversation(
    conversation: &Conversation,
    catalog: &Catalog,
    counter: &dyn TokenCounter,
    exact: bool,
    prices: &SavingsSettings,
) -> Result<Savings, Problem> {
    let cost = |name: &String| -> Result<u32, Problem> {
        let stated = conversation.definitions.get(name).copied();
        let known = || catalog.get(name).map(|entry| entry.token_cost(counter).total());
        stated.or_else(known).ok_or_else(|| {
            Problem::new(
                "conversation.tool",
                format!("the conversation names {name:?}, which is no tool of the catalog"),
                "state its tokens under `definitions`, or import the tool",
            )
        })
    };
    let full = match conversation.all_tools.as_slice() {
        [] => {
            let own = conversation.definitions.iter().filter(|(name, _)| catalog.get(name).is_none());
            let (more, extra) = own.fold((0, 0), |(n, sum), (_, tokens)| (n + 1, sum + tokens));
            let all: u32 = catalog.iter().map(|entry| entry.token_cost(counter).total()).sum();
            (catalog.len() as u32 + more, all + extra)
        }
        names => (names.len() as u32, names.iter().map(cost).sum::<Result<u32, _>>()?),
    };
    let mut turns = vec![];
    let mut carried = 0;
    let mut before: Option<(Pieces, u32)> = None;
    for (at, turn) in conversation.turns.iter().enumerate() {
        let mut pieces = Pieces::default();
        for name in &turn.tools {
            pieces.tools.push((name.clone(), cost(name)?));
        }
        let mut tokens = TurnTokens { tools: turn.tools.len() as u32, carried, ..Default::default() };
        tokens.definitions = pieces.tools.iter().map(|(_, tokens)| tokens).sum();
        let mut same = before.as_ref().map(|(before, _)| before.tools == pieces.tools);
        let mut prefix = before.as_ref().map_or(0, |(before, _)| {
            pieces.tools.iter().zip(&before.tools).take_while(|(a, b)| a == b).map(|(a, _)| a.1).sum()
        });
        for (place, block) in turn.blocks.iter().enumerate() {
            let size = block.tokens.unwrap_or_else(|| counter.count(&block.text));
            match block.overhead {
                true => tokens.blocks += size,
                false => tokens.base += size,
            }
            if same == Some(true) {
                let earlier = conversation.turns[at - 1].blocks.get(place);
                match earlier {
                    Some(earlier) if earlier == block => prefix += size,
                    Some(earlier) if block.tokens.is_none() && earlier.tokens.is_none() => {
                        let pair = |text: &str| Pieces { tools: vec![], texts: vec![text.into()] };
                        prefix += pair(&block.text).common(&pair(&earlier.text), counter);
                        same = Some(false);
                    }
                    _ => same = Some(false),
                }
            }
        }
        if same == Some(true) && conversation.turns[at - 1].blocks.len() == turn.blocks.len() {
            // What was carried before stands first among what is carried now.
            prefix += before.as_ref().map_or(0, |(_, carried)| *carried);
        }
        tokens.prefix = prefix;
        tokens.calls = turn.calls.iter().map(|c| c.call).sum();
        tokens.extra = turn.extra.unwrap_or(!turn.calls.is_empty() && at + 1 < conversation.turns.len());
        before = Some((pieces, carried));
        carried += turn.calls.iter().map(|c| c.call + c.result).sum::<u32>();
        turns.push(tokens);
    }
    Ok(of(&turns, full, counter, exact, prices))
}

/** The turns of a planning that asked a model, and what hiding tools saved over them. */
import type { PromptBlocks, Request, Savings, SavingsRow, Settings, ToolSpec, TurnRecord, TurnTokens } from "../client";
import { isVisible, totalOf } from "./visibility";

interface Turns {
  turns: TurnRecord[];
  savings: Savings;
}

export function turnsOf(tools: ToolSpec[], request: Request, settings: Settings, asked: boolean): Turns {
  const sum = (list: ToolSpec[]) => list.reduce((n, t) => n + totalOf(t), 0);
  const full = sum(tools);
  const empty = { encoding: "o200k_base", exact: false, full_tools: tools.length, full };
  if (!asked) return { turns: [], savings: { ...empty, rows: [], gross: 0, overhead: 0, net: 0 } };
  const before = tools.filter((t) => isVisible(t, { ...request, state: "REASONING", intent: "" }, settings));
  const intent = settings.intents[0]?.id ?? "REQ-1";
  const after = tools.filter((t) => isVisible(t, { ...request, state: "ACTION", intent }, settings));
  const tokens = (list: ToolSpec[], more: Partial<TurnTokens>): TurnTokens => ({
    tools: list.length,
    definitions: sum(list),
    base: 310,
    blocks: 120,
    carried: 0,
    calls: 0,
    prefix: 0,
    extra: false,
    ...more,
  });
  const turn = (number: number, more: Partial<TurnRecord> & Pick<TurnRecord, "tokens">): TurnRecord => ({
    number,
    state: "REASONING",
    intent: "",
    visible: more.tokens.tools,
    text: "",
    calls: [],
    input_tokens: more.tokens.definitions + more.tokens.base + more.tokens.blocks + more.tokens.carried,
    output_tokens: 42,
    model_ms: 620 + number * 85,
    state_after: "REASONING",
    intent_after: "",
    activated: [],
    ...more,
  });
  const turns = [
    turn(1, {
      text: "I look for a tool that reads the calendar.",
      tokens: tokens(before, { calls: 18, extra: true }),
      calls: [
        {
          call: { tool: "tool_search", arguments: { query: "meetings of a day", limit: 5 } },
          result: { tools: [{ name: "calendar_lookup", score: 0.82 }], effective_search_type: "fts" },
          is_error: false,
        },
      ],
      activated: ["calendar_lookup"],
    }),
    turn(2, {
      tokens: tokens(before, { carried: 96, calls: 14, prefix: sum(before) + 430, extra: true }),
      calls: [
        {
          call: { tool: "select_intent", arguments: { intent } },
          result: { selected: intent, state: "ACTION", next: "the tools of this intent are offered now" },
          is_error: false,
        },
      ],
      state_after: "ACTION",
      intent_after: intent,
    }),
    turn(3, {
      state: "ACTION",
      intent,
      state_after: "ACTION",
      intent_after: intent,
      tokens: tokens(after, { carried: 214, prefix: 0 }),
      calls: [
        { call: { tool: "vector_search", arguments: { query: request.query } }, result: null, is_error: false },
        { call: { tool: "jira_get_issue", arguments: { issue_key: "PROJ-123" } }, result: null, is_error: false },
      ],
    }),
  ];
  let prompt = 0;
  const rows = turns.map(({ number, tokens: t }): SavingsRow => {
    const was = prompt;
    prompt = t.definitions + t.base + t.blocks + t.carried;
    const gross = t.extra ? 0 : full - t.definitions;
    const lost_cache = number === 1 ? 0 : Math.max(0, was - t.prefix) * 0.9;
    const extra_turn = t.extra ? t.definitions + t.base : 0;
    const searches = t.carried + t.calls;
    const overhead = t.blocks + searches + extra_turn + lost_cache;
    return {
      turn: number,
      tokens: t,
      prompt,
      gross,
      blocks: t.blocks,
      searches,
      extra_turn,
      lost_cache,
      overhead,
      net: gross - overhead,
      cached: t.prefix >= settings.savings.min_cached ? t.prefix : 0,
      stability: number === 1 ? null : Math.min(1, t.prefix / was),
    };
  });
  const total = (of: (r: SavingsRow) => number | null) => rows.reduce((n, r) => n + (of(r) ?? 0), 0);
  return {
    turns,
    savings: {
      ...empty,
      rows,
      gross: total((r) => r.gross),
      overhead: total((r) => r.overhead),
      net: total((r) => r.net),
    },
  };
}

export function blocksOf(settings: Settings): PromptBlocks {
  const { discovery } = settings;
  if (!discovery.enabled) return { blocks: [], tokens: 0 };
  const blocks: PromptBlocks["blocks"] = [
    {
      kind: "discovery",
      text: "<tool_discovery>\nMore tools exist than are offered here. Call tool_search with what you need in plain words to find them.\n</tool_discovery>\n",
      tokens: 41,
    },
  ];
  if (discovery.directory.enabled)
    blocks.push({
      kind: "directory",
      text: "<tool_directory>\nGroups of tools that can be found and called:\n- read: read tools (6)\n- tickets: tickets tools (2)\n</tool_directory>\n",
      tokens: 38,
    });
  if (discovery.hints.enabled)
    blocks.push({
      kind: "hints",
      text: "<tool_hints>\nLikely useful here: vector_search, grep_search, read_file\n</tool_hints>\n",
      tokens: 23,
    });
  return { blocks, tokens: blocks.reduce((n, b) => n + b.tokens, 0) };
}

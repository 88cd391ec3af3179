/** What "the model" answers to the sample queries of the in-browser host, and how the steps behave when run. */
import type { EdgeOf, Proposal, Scenario } from "./plan";
import { emptyRequest } from "../../lib/store";
import type { SampleQuery } from "../client";

const needs = (what: string): Proposal["drop"] => ({
  rule: `applies.${what.replaceAll(" ", "_")}`,
  reason: `The query has no ${what}`,
});

const bySearchText = (tool: string, args: Proposal["args"], evidence: string[]): Proposal => ({
  tool,
  args,
  evidence,
  reason: "The query holds text to search for",
  rule: "applies.text",
});

const guardQuery = "请介绍一下这个项目 😀 and tell me what the README says about its architecture";
const stagesQuery = "Compare PROJ-123 with what our docs say about login, then write a summary";
const retryQuery = "Fetch https://status.example.com/api and check it against the docs";

const edge = (from: string, to: string, label: string): EdgeOf => ({ from, to, kind: "data", label, implied: false });

export const scenarios: Scenario[] = [
  {
    title: "Four of five calls dropped",
    shows: "The model proposes whatever it can; the guard keeps the one call that the query asks for.",
    query: guardQuery,
    modelText:
      "<thinking>The user wants an introduction. I could use vector_search, and maybe jira_get_issue for open work.</thinking>\nI will call vector_search first 😀, then jira_get_issue, confluence_get_page and web_fetch for more context, and git_commit the notes. I will not use send_mail.",
    path: "free_text",
    pathReason: "The reply held no tool calls and no JSON, so tool names in its text were read",
    proposals: [
      bySearchText("vector_search", { query: guardQuery }, [
        "介绍一下这个项目 😀",
        "README says about its architecture",
      ]),
      { tool: "jira_get_issue", args: {}, drop: needs("Jira key") },
      { tool: "confluence_get_page", args: {}, drop: needs("Confluence page id") },
      { tool: "web_fetch", args: {}, drop: needs("URL") },
      {
        tool: "git_commit",
        args: {},
        drop: { rule: "state.destructive", reason: "Hidden in REQUEST: DESTRUCTIVE until an intent is selected" },
      },
    ],
    steps: [{ id: "step-1", tool: "vector_search", args: { query: guardQuery }, stage: 1, ms: 420 }],
    edges: [],
    subQueries: [guardQuery],
  },
  {
    title: "Three stages, one call added",
    shows: "Independent searches run side by side; a rule adds the Jira call that the model forgot.",
    query: stagesQuery,
    modelText: "",
    path: "offline",
    pathReason: "No model was asked",
    proposals: [
      bySearchText("vector_search", { query: "what our docs say about login" }, ["what our docs say about login"]),
      bySearchText("grep_search", { pattern: "login" }, ["login"]),
      { tool: "compare_results", args: {}, reason: "Serves the sub-query that compares", rule: "purpose.compare" },
      {
        tool: "synthesize",
        args: {},
        evidence: ["write a summary"],
        reason: "Serves the sub-query that asks for an answer",
        rule: "purpose.answer",
      },
      {
        tool: "jira_get_issue",
        args: { issue_key: "PROJ-123" },
        evidence: ["PROJ-123"],
        reason: "The query names PROJ-123",
        rule: "rule.issue_key",
        added: true,
      },
    ],
    steps: [
      {
        id: "step-1",
        tool: "vector_search",
        args: { query: "what our docs say about login" },
        stage: 1,
        ms: 420,
        fallback: "grep_search",
      },
      { id: "step-2", tool: "grep_search", args: { pattern: "login" }, stage: 1, ms: 80 },
      {
        id: "step-3",
        tool: "compare_results",
        args: { left: { $from: "step-5", path: "/description" }, right: { $from: "step-1", path: "" } },
        stage: 2,
        ms: 300,
      },
      {
        id: "step-4",
        tool: "synthesize",
        args: { results: { $from: "step-3", path: "" }, question: stagesQuery },
        stage: 3,
        ms: 850,
        critical: true,
      },
      { id: "step-5", tool: "jira_get_issue", args: { issue_key: "PROJ-123" }, stage: 1, ms: 650, mark: "added" },
    ],
    edges: [
      edge("step-5", "step-3", "left ← /description"),
      edge("step-1", "step-3", "right ← all"),
      edge("step-3", "step-4", "results ← all"),
      { from: "step-2", to: "step-4", kind: "order", label: "", implied: false },
      { from: "step-5", to: "step-4", kind: "order", label: "", implied: true },
    ],
    subQueries: ["What does PROJ-123 say?", "What do our docs say about login?", "Where do they differ?"],
  },
  {
    title: "Retries and a failure",
    shows: "A page that answers 503 is tried again, then fails; what depends on it is skipped.",
    query: retryQuery,
    modelText: '{"tool_calls": [{"name": "web_fetch"}, {"name": "vector_search"}, {"name": "verify_claims"}]}',
    path: "json",
    pathReason: "The reply was one JSON object with tool_calls",
    proposals: [
      {
        tool: "web_fetch",
        args: { url: "https://status.example.com/api" },
        evidence: ["https://status.example.com/api"],
        reason: "The query holds a URL",
        rule: "applies.url",
      },
      bySearchText("vector_search", { query: "the docs" }, ["the docs"]),
      { tool: "verify_claims", args: {}, reason: "Serves the sub-query that checks", rule: "purpose.validate" },
    ],
    steps: [
      { id: "step-1", tool: "web_fetch", args: { url: "https://status.example.com/api" }, stage: 1, ms: 500, fails: 3 },
      {
        id: "step-2",
        tool: "vector_search",
        args: { query: "the docs" },
        stage: 1,
        ms: 420,
        fallback: "grep_search",
        fails: 1,
      },
      {
        id: "step-3",
        tool: "verify_claims",
        args: { answer: { $from: "step-1", path: "/text" }, sources: { $from: "step-2", path: "" } },
        stage: 2,
        ms: 500,
      },
    ],
    edges: [edge("step-1", "step-3", "answer ← /text"), edge("step-2", "step-3", "sources ← all")],
    subQueries: ["Fetch the status", "Check it against the docs"],
  },
  {
    title: "A plan that cannot run",
    shows: "Two steps wait for each other; the finding names them and the run stays disabled.",
    query: "Read src/main.rs and src/lib.rs, each in the light of the other",
    modelText: "",
    path: "offline",
    pathReason: "No model was asked",
    proposals: [
      {
        tool: "read_file",
        args: { path: "src/main.rs" },
        evidence: ["src/main.rs"],
        reason: "The query holds a file path",
        rule: "applies.path",
      },
      { tool: "summarize", args: {}, reason: "Serves the sub-query that asks for an answer", rule: "purpose.answer" },
    ],
    steps: [
      { id: "step-1", tool: "read_file", args: { path: "src/main.rs" }, stage: 1, ms: 15 },
      { id: "step-2", tool: "summarize", args: { text: { $from: "step-1", path: "" } }, stage: 1, ms: null },
    ],
    edges: [
      edge("step-1", "step-2", "text ← all"),
      { from: "step-2", to: "step-1", kind: "order", label: "", implied: false },
    ],
    subQueries: ["Read both files"],
    findings: [
      {
        code: "plan.cycle",
        step: "",
        message: "these steps wait for one another: step-1, step-2",
        hint: "remove one of the dependencies between them",
      },
    ],
  },
];

export const sampleOf = (s: Scenario): SampleQuery => ({
  title: s.title,
  shows: s.shows,
  request: { ...emptyRequest, query: s.query, planner: s.modelText === "" ? "offline" : "recorded" },
});

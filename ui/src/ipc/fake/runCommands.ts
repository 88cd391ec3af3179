/** The runs of the in-browser host: started, steered, looked at again, forked and kept. */
import type { Fork, Host, Planning, PlanView, Request, RunAdvanced } from "../client";
import { planDiff } from "./changes";
import { controlStateOf, interject, parseBreakpoint, player } from "./control";
import { refuse, type Desk } from "./desk";
import { eventBeside, eventPage, marksOf, timelineOf } from "./journal";
import { derived, diffOf, previewOf, storageOf, toolsAt, toolThen, treeOf } from "./past";
import { FakeWorks } from "./works";
import { makeGraph, type Scenario } from "./plan";
import { eventRow, NO_OPTIONS, shownState, simulate, stateAt, summaryOf, type FakeRun } from "./runs";

const needsRust = (): never =>
  refuse("browser.only", "This needs the application", "Open the workspace in the window of Toolplan.");
const done = (_: unknown): null => null;
const now = async <T>(answer: T): Promise<T> => structuredClone(answer);

export class Runs {
  private readonly runs: FakeRun[] = [];
  private readonly works = new FakeWorks();
  private readonly listeners = new Set<(advanced: RunAdvanced) => void>();
  private readonly play = player((run) => {
    for (const listener of this.listeners) listener({ run: run.id, state: shownState(run) });
  });

  constructor(
    private readonly desk: Desk,
    private readonly planned: (plan: number) => { view: PlanView; scenario: Scenario } | undefined,
    private readonly plan: (request: Request) => Promise<PlanView>,
  ) {}

  private named(id: number): FakeRun {
    return (
      this.runs.find((r) => r.id === id) ?? refuse("run.unknown", `There is no run ${id}`, "Choose a run of the list.")
    );
  }

  private derive(from: number, fork: Fork | null): number {
    const run = derived(this.named(from), this.runs.length + 1, fork);
    this.runs.push(run);
    return run.id;
  }

  /** A run that has ended. */
  remember(scenario: Scenario, planning: Planning, started: number, options = NO_OPTIONS): FakeRun {
    const run = simulate(this.runs.length + 1, scenario, planning, this.desk.tools, started, options);
    this.runs.push(run);
    return run;
  }

  commands() {
    const { desk, runs, works, listeners, play, planned, plan: planAgain } = this;
    const runNamed = (id: number) => this.named(id);
    const remember: Runs["remember"] = (...run) => this.remember(...run);
    const derive = (from: number, fork: Fork | null) => this.derive(from, fork);
    return {
      async startRun(plan, options) {
        const open = planned(plan) ?? refuse("plan.unknown", `There is no planning ${plan}`, "Plan the query again.");
        const run = remember(open.scenario, open.view.planning, Date.now(), options ?? NO_OPTIONS);
        run.shown = 1;
        setTimeout(() => play.advance(run), 0);
        return run.id;
      },

      async cancelRun(id) {
        const run = runNamed(id);
        const seq = run.shown + 1;
        const at_ms = Date.now();
        const event = { seq, at_ms, kind: "run_finished", step: "", text: "The run ended: cancelled" };
        run.events.splice(run.shown, Infinity, {
          ...event,
          tool: "",
          status: "cancelled",
          duration_ms: null,
          apply: (state) => {
            for (const [step, was] of Object.entries(state.steps))
              if (was.finished_ms === null && was.status !== "skipped")
                state.steps[step] = { ...was, status: "cancelled" };
            Object.assign(state, { outcome: "cancelled", duration_ms: at_ms - (state.started_ms ?? 0) });
          },
        });
        run.shown++;
        play.advance(run);
        return null;
      },

      pauseRun: async (id) => done(play.pause(runNamed(id))),
      stepRun: async (id, go) => done(play.go(runNamed(id), go)),
      nextStage: async (id) => done(play.nextStage(runNamed(id))),
      runTo: async (id, step) => done(play.go(runNamed(id), { kind: "to", step })),
      setBreakpoints: async (id, breakpoints) => done(play.setBreakpoints(runNamed(id), breakpoints)),
      runControlState: async (id) => controlStateOf(runNamed(id)),
      parseBreakpoint: async (text) => parseBreakpoint(text),
      editArguments: async (id, step, args) => {
        const run = runNamed(id);
        interject(run, "arguments_edited", step, `${step} has other arguments`, (state) => {
          state.steps[step] = { ...state.steps[step]!, edited_arguments: args };
        });
        return done(play.advance(run));
      },
      editResult: async (id, step, data) =>
        done(
          play.end(runNamed(id), step, "result_edited", `${step} has a result by hand`, (state) => {
            const result = { data, confidence: null, sources: [] };
            const was = state.steps[step]!;
            state.steps[step] = { ...was, status: "succeeded", result, edited_result: true, finished_ms: Date.now() };
          }),
        ),
      skipStep: async (id, step) =>
        done(
          play.end(runNamed(id), step, "step_skipped", `${step} is skipped by hand`, (state) => {
            state.steps[step] = { ...state.steps[step]!, status: "skipped", skip: { kind: "by_hand" } };
          }),
        ),
      retryStep: async (id, step) => {
        const run = runNamed(id);
        interject(run, "retry_requested", step, `${step} is to be tried again`, (state) => {
          state.steps[step] = { ...state.steps[step]!, status: "ready", error: null, finished_ms: null };
        });
        return done(play.advance(run));
      },
      cancelStep: async (id, step) =>
        done(
          play.end(runNamed(id), step, "step_cancelled", `${step} is cancelled`, (state) => {
            state.steps[step] = { ...state.steps[step]!, status: "cancelled", finished_ms: Date.now() };
          }),
        ),
      resumeRun: async () => needsRust(),

      runs: () => now([...runs].reverse().map(summaryOf)),

      async openRun(id) {
        const run = runNamed(id);
        return {
          summary: summaryOf(run),
          state: { ...shownState(run), planning: run.planning },
          graph: makeGraph(run.scenario, run.planning, desk.tools),
          events: run.events.slice(0, Math.min(run.shown, 500)).map(eventRow),
          event_count: run.shown,
        };
      },

      async runAt(id, seq) {
        const run = runNamed(id);
        if (seq < 0 || seq > run.shown)
          refuse("run.unknown_event", `Run ${id} has no event ${seq}`, "Choose an event of the log.");
        return { ...stateAt(run, seq), tokens: run.planning.tokens, cost: 0 };
      },
      runTools: async (id, seq, text, offset, limit) =>
        now(toolsAt(runNamed(id), seq, desk.tools, text, offset, limit)),
      runTool: async (id, seq, name) => now(toolThen(runNamed(id), seq, desk.tools, name)),

      runEvents: async (id, filter, offset, limit) => eventPage(runNamed(id), filter, offset, limit),
      findEvent: async (id, filter, seq, backwards) => eventBeside(runNamed(id), filter, seq, backwards),
      runMarks: async (id) => marksOf(runNamed(id)),
      runTimeline: async (id) => timelineOf(runNamed(id)),
      runTree: async (id) => now(treeOf(runNamed(id), runs)),
      diffRuns: async (a, b) => now(diffOf(runNamed(a), runNamed(b))),
      replayRun: async (id) => derive(id, null),
      async replanRun(id) {
        const run = runNamed(id);
        const view = await planAgain(run.planning.request);
        return now({ view, diff: planDiff(run.planning, view.planning) });
      },
      forkRun: async (id, fork) => derive(id, fork),
      forkPreview: async (id, fork, policy) => now(previewOf(runNamed(id), fork, policy)),
      exportRun: async (id) =>
        now({
          path: `/home/you/sample/exports/run-${id}.jsonl`,
          events: runNamed(id).shown,
          bytes: runNamed(id).shown * 410,
        }),
      async importRuns(paths) {
        const called_off = {
          code: "work.cancelled",
          message: `the import was called off: ${paths[0]}`,
          hint: "nothing of this file was taken; import it again whenever you like",
        };
        const foreign = (path: string) => ({
          code: "import.format",
          message: `${path} is no run`,
          hint: "Drop a .jsonl file that was exported.",
        });
        // A file that is called long takes its time.
        const whole = paths.every((path) => !path.includes("long")) || (await works.do("import", paths[0]!));
        return now(
          paths.map((path) => {
            const taken = whole && path.endsWith(".jsonl");
            const problem = whole ? (taken ? null : foreign(path)) : called_off;
            const [run, events] = taken ? [derive(1, null), runNamed(1).shown] : [null, 0];
            return { path, run, events, already: false, problem };
          }),
        );
      },
      longWork: async () => works.list(),
      cancelWork: async (id) => done(works.cancel(id)),
      onWorkAdvanced: (listener) => works.listen(listener),
      storage: async () => now(storageOf(runs)),
      pruneRuns: async () => now({ runs: 0, events: 0, bytes: 0 }),
      pinRun: async (id, pinned) => done(Object.assign(runNamed(id), { pinned })),
      deleteRun: async (id) => done(runs.splice(runs.indexOf(runNamed(id)), 1)),

      async onRunAdvanced(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    } satisfies Partial<Host>;
  }
}

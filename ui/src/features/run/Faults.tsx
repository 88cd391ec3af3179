import { Plus } from "lucide-react";
import { IconButton } from "../../components/IconButton";
import type { ErrorClass, Fault, GraphView } from "../../ipc/client";
import { faultWords, useDebug, type KeptFault } from "../../lib/debug";
import { DebugRow } from "./DebugRow";

const KINDS: { kind: Fault["kind"]; label: string; fresh: Fault }[] = [
  { kind: "error", label: "fails", fresh: { kind: "error", class: "transient" } },
  { kind: "delay", label: "is late", fresh: { kind: "delay", ms: 1000 } },
  { kind: "hang", label: "never answers", fresh: { kind: "hang" } },
  { kind: "malformed", label: "answers cut off", fresh: { kind: "malformed" } },
  { kind: "rate_limit", label: "is rate limited", fresh: { kind: "rate_limit", retry_after_ms: 1000 } },
];
const CLASSES: ErrorClass[] = [
  "transient",
  "timeout",
  "rate_limited",
  "refused",
  "not_found",
  "client",
  "validation",
  "internal",
];

/** Faults on purpose, for the next run: what happens to which calls, and how often. */
export function Faults({ graph }: { graph: GraphView }) {
  const faults = useDebug((s) => s.faults);
  const set = useDebug((s) => s.set);
  const put = (i: number, change: Partial<KeptFault>) =>
    set({ faults: faults.map((rule, k) => (k === i ? { ...rule, ...change } : rule)) });
  const add = () =>
    set({ faults: [...faults, { tool: "", step: "", attempts: null, probability: 1, fault: KINDS[0]!.fresh }] });
  const tools = [...new Set(graph.steps.map((s) => s.tool))].sort();
  return (
    <section className="debug-part debug-faults" aria-label="Faults">
      <h3>
        Faults of the next run
        <IconButton label="Add a fault" testId="add-fault" icon={Plus} onClick={add} />
      </h3>
      <ul className="debug-list">
        {faults.map((rule, i) => (
          <DebugRow
            key={i}
            testId={`fault-${i}`}
            on={!rule.off}
            label={`Fault: ${faultWords(rule)}`}
            removeLabel="Remove the fault"
            onSwitch={(on) => put(i, { off: !on })}
            onRemove={() => set({ faults: faults.filter((_, k) => k !== i) })}
          >
            <select
              aria-label="Of which tool or step"
              data-testid={`fault-of-${i}`}
              value={rule.step !== "" ? `step:${rule.step}` : rule.tool}
              onChange={(e) => {
                const [, step = ""] = /^step:(.*)$/.exec(e.target.value) ?? [];
                put(i, step !== "" ? { step, tool: "" } : { step: "", tool: e.target.value });
              }}
            >
              <option value="">any call</option>
              {tools.map((tool) => (
                <option key={tool} value={tool}>
                  {tool}
                </option>
              ))}
              {graph.steps.slice(0, 200).map((s) => (
                <option key={s.id} value={`step:${s.id}`}>
                  {s.id} · {s.tool}
                </option>
              ))}
            </select>
            <select
              aria-label="What happens"
              data-testid={`fault-kind-${i}`}
              value={rule.fault.kind}
              onChange={(e) => put(i, { fault: KINDS.find((k) => k.kind === e.target.value)!.fresh })}
            >
              {KINDS.map((k) => (
                <option key={k.kind} value={k.kind}>
                  {k.label}
                </option>
              ))}
            </select>
            {rule.fault.kind === "error" && (
              <select
                aria-label="Class of the error"
                value={rule.fault.class}
                onChange={(e) => put(i, { fault: { kind: "error", class: e.target.value as ErrorClass } })}
              >
                {CLASSES.map((c) => (
                  <option key={c} value={c}>
                    {c.replaceAll("_", " ")}
                  </option>
                ))}
              </select>
            )}
            {rule.fault.kind === "delay" && (
              <Small
                label="by"
                unit="ms"
                value={rule.fault.ms}
                onChange={(ms) => put(i, { fault: { kind: "delay", ms } })}
              />
            )}
            {rule.fault.kind === "rate_limit" && (
              <Small
                label="for"
                unit="ms"
                value={rule.fault.retry_after_ms}
                onChange={(n) => put(i, { fault: { kind: "rate_limit", retry_after_ms: n } })}
              />
            )}
            <Small
              label="in"
              unit="%"
              value={Math.round((rule.probability ?? 1) * 100)}
              onChange={(n) => put(i, { probability: Math.min(100, n) / 100 })}
            />
            <label className="fault-number" title="How many first attempts of a step it strikes">
              <select
                aria-label="Which attempts"
                value={rule.attempts ?? ""}
                onChange={(e) => put(i, { attempts: e.target.value === "" ? null : Number(e.target.value) })}
              >
                <option value="">all attempts</option>
                {[1, 2, 3, 5].map((n) => (
                  <option key={n} value={n}>
                    {n === 1 ? "first attempt" : `first ${n}`}
                  </option>
                ))}
              </select>
            </label>
          </DebugRow>
        ))}
      </ul>
      {faults.length === 0 && (
        <p className="muted">Make a tool fail, hang or answer late, by a seed, to see what the plan does.</p>
      )}
    </section>
  );
}

function Small({
  label,
  unit,
  value,
  onChange,
}: {
  label: string;
  unit: string;
  value: number;
  onChange: (n: number) => void;
}) {
  return (
    <label className="fault-number">
      {label}
      <input
        inputMode="numeric"
        value={value}
        onChange={(e) => /^\d{1,7}$/.test(e.target.value) && onChange(Number(e.target.value))}
      />
      {unit}
    </label>
  );
}

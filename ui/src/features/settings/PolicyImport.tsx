/** Policy files: who sees what, taken into the settings whole or not at all, and first only tried. */
import { useRef, useState } from "react";
import { DialogActions } from "../../components/DialogActions";
import { FieldDiff } from "../../components/FieldDiff";
import { FileButton } from "../../components/FileButton";
import { Modal } from "../../components/Modal";
import { ProblemNote } from "../../components/ProblemNote";
import { client, Problem, type PolicyImport as Answer } from "../../ipc/client";
import { counted } from "../../lib/format";
import { catalogChanged } from "../../lib/planning";
import { useSettingsDraft } from "./draft";

export function PolicyImport() {
  const [open, setOpen] = useState(false);
  const unsaved = useSettingsDraft((s) => s.draft !== null);
  return (
    <>
      <button
        type="button"
        className="button"
        data-testid="policy-import"
        disabled={unsaved}
        title={unsaved ? "Save or discard your changes first" : undefined}
        onClick={() => setOpen(true)}
      >
        Take in a policy file…
      </button>
      {open && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [file, setFile] = useState("");
  const [tried, setTried] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asked = useRef(0);

  const attempt = async (text: string, tryOnly: boolean): Promise<Answer | null> => {
    const ask = ++asked.current;
    try {
      const answer = text.trim() === "" ? null : await client.importPolicy(text, tryOnly);
      if (ask !== asked.current) return null;
      setTried(answer);
      setProblem(null);
      return answer;
    } catch (thrown) {
      if (ask !== asked.current) return null;
      setTried(null);
      setProblem(Problem.from(thrown));
      return null;
    }
  };
  const take = (text: string) => {
    setText(text);
    void attempt(text, true);
  };
  const store = async () => {
    if (!(await attempt(text, false))) return;
    await catalogChanged();
    onClose();
  };

  return (
    <Modal title="Take in a policy file" testId="policy-dialog" wide onClose={onClose}>
      <p className="muted">
        A JSON object with any of <code>policy</code>, <code>visibility</code>, <code>kill_switch</code>,{" "}
        <code>modes</code>, <code>default_mode</code>, <code>handshake_tools</code>, <code>intents</code>,{" "}
        <code>tenants</code> and <code>session</code>. What it leaves out stays as it is.
      </p>
      <div className="policy-source">
        <FileButton
          accept=".json,application/json"
          testId="policy-file"
          onText={(text, name) => {
            setFile(name);
            take(text);
          }}
        />
        <span className="muted truncate">{file === "" ? "or paste its text here" : file}</span>
      </div>
      <textarea
        className="mono policy-text"
        rows={9}
        spellCheck={false}
        aria-label="Text of the policy file"
        data-testid="policy-text"
        placeholder={'{ "policy": { "denied": ["send_mail"] } }'}
        value={text}
        onChange={(e) => take(e.target.value)}
      />
      {problem && <ProblemNote problem={problem} />}
      {tried && <Preview answer={tried} />}
      <DialogActions
        action="Take it in"
        testId="policy-store"
        disabled={!tried || tried.changed.length === 0}
        onCancel={onClose}
        onAction={() => void store()}
      />
    </Modal>
  );
}

function Preview({ answer: { changed, notices } }: { answer: Answer }) {
  return (
    <div className="policy-preview" data-testid="policy-preview">
      <p>
        {changed.length === 0
          ? "The settings are like this already."
          : `It would change ${counted(changed.length, "setting")}.`}
      </p>
      <FieldDiff changes={changed} />
      {notices.map((notice) => (
        <p key={notice.message} className="policy-notice">
          {notice.message}; {notice.hint}.
        </p>
      ))}
    </div>
  );
}

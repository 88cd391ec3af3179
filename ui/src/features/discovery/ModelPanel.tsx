/** The embedding model: what it is for, how to add one, how far it has read the catalog. */
import { useQuery } from "@tanstack/react-query";
import { FolderInput, Trash2 } from "lucide-react";
import { useState } from "react";
import { ProblemNote } from "../../components/ProblemNote";
import { Progress } from "../../components/WorkProgress";
import { client, Problem, type ModelInfo } from "../../ipc/client";
import { count } from "../../lib/format";
import { modelQuery, queryClient } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import "./discovery.css";

async function take(answer: Promise<ModelInfo>): Promise<void> {
  const info = await answer;
  queryClient.setQueryData(modelQuery.queryKey, info);
  // What it makes of a query may be another thing now.
  await queryClient.invalidateQueries({ queryKey: ["search-lab"] });
}

function useModel() {
  const { data: model } = useQuery(modelQuery);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const act = async (answer: Promise<ModelInfo>) => {
    setBusy(true);
    setProblem(null);
    try {
      await take(answer);
    } catch (thrown) {
      setProblem(Problem.from(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { model, busy, problem, act };
}

/** In the column of the lab that needs a model and has none. */
export function ModelTeaser() {
  const set = useWindow((s) => s.set);
  const { data: model } = useQuery(modelQuery);
  if (model?.installed)
    return (
      <div className="model-teaser">
        <p>{model.note}</p>
        <ReadSoFar model={model} />
      </div>
    );
  return (
    <div className="model-teaser" data-testid="model-teaser">
      <p>
        No embedding model is installed, so tools are found by their words alone. With one, a query finds tools that say
        the same in other words.
      </p>
      <AddModel />
      <button type="button" className="link" onClick={() => set({ discoveryTab: "model" })}>
        How it works and where to get one
      </button>
    </div>
  );
}

function AddModel() {
  const { busy, problem, act } = useModel();
  const [path, setPath] = useState("");
  return (
    <form
      className="add-model"
      onSubmit={(e) => {
        e.preventDefault();
        void act(client.addEmbeddingModel(path.trim()));
      }}
    >
      <label className="field">
        <span>Folder of the model, or a package file</span>
        <input
          className="mono"
          data-testid="model-path"
          value={path}
          placeholder="/home/you/models/all-MiniLM-L6-v2"
          onChange={(e) => setPath(e.target.value)}
        />
      </label>
      <button
        type="submit"
        className="button primary"
        data-testid="model-add"
        disabled={busy || path.trim() === ""}
        title={path.trim() === "" ? "Type the path of a model first" : undefined}
      >
        <FolderInput size={13} aria-hidden /> {busy ? "Adding…" : "Add the model"}
      </button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

function ReadSoFar({ model }: { model: ModelInfo }) {
  const { busy, act } = useModel();
  return (
    <div className="model-progress" data-testid="model-progress">
      <Progress
        title="Tools read"
        part={model.total === 0 ? 1 : model.indexed / model.total}
        amount={`${count(model.indexed)} of ${count(model.total)} tools read`}
        onCancel={model.indexing && !busy ? () => void act(client.cancelIndexEmbeddings()) : null}
      />
      {!model.indexing && model.indexed < model.total && (
        <button
          type="button"
          className="button small"
          disabled={busy}
          onClick={() => void act(client.indexEmbeddings())}
        >
          Read the rest
        </button>
      )}
    </div>
  );
}

export function ModelPanel() {
  const { model, busy, problem, act } = useModel();
  if (!model) return null;
  return (
    <div className="scroll model-panel">
      <section>
        <h3>{model.installed ? model.label : "No embedding model"}</h3>
        <p data-testid="model-note">{model.note}</p>
        {model.problem && <ProblemNote problem={new Problem(model.problem)} />}
        {problem && <ProblemNote problem={problem} />}
        {model.installed ? (
          <>
            <ReadSoFar model={model} />
            <button
              type="button"
              className="button"
              data-testid="model-remove"
              disabled={busy}
              onClick={() => void act(client.removeEmbeddingModel())}
            >
              <Trash2 size={13} aria-hidden /> Remove the model
            </button>
          </>
        ) : (
          <AddModel />
        )}
      </section>
      <section className="muted">
        <h3>What it does</h3>
        <p>
          An embedding model turns a text into numbers that lie near those of texts with the same meaning. Toolplan runs
          it on this computer: each tool is read once, after an edit again, and nothing is sent anywhere. Tools are then
          ranked by words and by meaning together; a query that fits nothing still finds nothing.
        </p>
        <h3>Where to get one</h3>
        <p>
          Any sentence-transformers model of the BERT family whose folder holds <code>config.json</code>,{" "}
          <code>tokenizer.json</code> and <code>model.safetensors</code>, such as all-MiniLM-L6-v2 (about 90 MB).
          Download it yourself and type its path; Toolplan fetches nothing.
        </p>
      </section>
    </div>
  );
}

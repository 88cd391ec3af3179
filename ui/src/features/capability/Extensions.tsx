/** The enabled extensions and what they expand to; enabling one is a change of the settings. */
import { ArrowRight, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import { ToolName } from "../../components/ToolName";
import type { PlanningView, Settings } from "../../ipc/client";
import { enable } from "./enable";
import { came } from "./words";

interface ExtensionsProps {
  settings: Settings;
  view: PlanningView;
}

export function Extensions({ settings, view }: ExtensionsProps) {
  const [typed, setTyped] = useState("");
  const enabled = settings.capabilities.enabled_extensions;
  const store = (ids: string[]) => enable(settings, ids);
  return (
    <div className="extensions">
      <div className="extension-line">
        <span className="muted">Enabled</span>
        {enabled.map((id) => (
          <span key={id} className="extension" data-testid={`extension-${id}`}>
            {id}
            <button
              type="button"
              className="icon-button"
              aria-label={`Disable ${id}`}
              onClick={() => store(enabled.filter((e) => e !== id))}
            >
              <X size={12} />
            </button>
          </span>
        ))}
        <form
          onSubmit={(e) => {
            e.preventDefault();
            const id = typed.trim();
            if (id !== "" && !enabled.includes(id)) store([...enabled, id]);
            setTyped("");
          }}
        >
          <input
            aria-label="Enable an extension"
            data-testid="extension-add"
            placeholder="enable web, files, a namespace…"
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
          />
        </form>
        {view.expanded_ids.length > 0 && <ArrowRight size={14} aria-label="expand to" />}
        {view.ids.map(({ id, came: how, from }) => (
          <span
            key={id}
            className="extension expanded"
            data-came={how}
            title={how === "enabled" ? "Enabled by this name" : `${came(how)}, from ${from}`}
          >
            {id}
          </span>
        ))}
      </div>
      {view.unknown.map(({ id, meant }) => (
        <p key={id} className="warn small">
          <TriangleAlert size={12} aria-hidden /> Nothing is called <code>{id}</code>.
          {meant !== null && (
            <>
              {" "}
              Was{" "}
              <button type="button" className="link" onClick={() => store(enabled.map((e) => (e === id ? meant : e)))}>
                {meant}
              </button>{" "}
              meant?
            </>
          )}
        </p>
      ))}
      {view.overreach.length > 0 && (
        <p className="warn small" data-testid="overreach">
          <TriangleAlert size={12} aria-hidden />
          <span className="names">
            Brings along tools that are not known to be safe:
            {view.overreach.map(({ tool, enabled: from, came: how }) => (
              <span key={tool}>
                <ToolName name={tool} />{" "}
                <span className="muted">
                  ({came(how)}, from {from})
                </span>
              </span>
            ))}
          </span>
        </p>
      )}
    </div>
  );
}

import { useSettingsForm } from "./form";

/** Who plans is up to the environment; here it is only told. */
export function ProviderNote() {
  const { info, origins } = useSettingsForm();
  const planners = ["planner.provider", "planner.model"].flatMap((path) => origins.get(path) ?? []);
  return (
    <>
      <dl className="facts settings-note">
        {planners.map(({ path, source, value, variable }) => (
          <div key={path}>
            <dt>{path.split(".")[1]}</dt>
            <dd>
              <code>{value}</code>{" "}
              <span className="muted">
                {source === "environment" ? `by ${variable} of the environment` : `${variable} is not set`}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="muted settings-note">{info.provider.note}</p>
    </>
  );
}

import { useSettingsForm } from "./form";

/** Which model plans is up to the environment; here it is only told. */
export function ProviderNote() {
  return <p className="muted settings-note">{useSettingsForm().info.provider.note}</p>;
}

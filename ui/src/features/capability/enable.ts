import { client, type Settings } from "../../ipc/client";
import { change } from "../../lib/edits";

/** Which extensions are enabled is a setting. */
export const enable = (settings: Settings, enabled_extensions: string[]): void =>
  void change(() =>
    client.saveSettings({ ...settings, capabilities: { ...settings.capabilities, enabled_extensions } }),
  );

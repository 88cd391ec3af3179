/** What the fields of the page share: the settings as they stand in it, and what was said of them. */
import { createContext, use } from "react";
import type { AppInfo, Problem, SettingOrigin, Settings } from "../../ipc/client";

interface Form {
  info: AppInfo;
  settings: Settings;
  change: (settings: Settings) => void;
  /** Who decides each setting, by its path. */
  origins: ReadonlyMap<string, SettingOrigin>;
  problem: Problem | null;
  /** How often changes were thrown away; fields that keep a text of their own start afresh then. */
  discarded: number;
  /** The setting that a verdict led to. */
  at: string | null;
}

export const FormContext = createContext<Form | null>(null);

export const useSettingsForm = (): Form => use(FormContext)!;

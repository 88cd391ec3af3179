/** The settings as they stand in the form. They outlive the form, so a look at another view loses nothing. */
import { create } from "zustand";
import { client, Problem, type Settings } from "../../ipc/client";
import { change } from "../../lib/edits";
import { catalogChanged } from "../../lib/planning";
import { infoQuery, queryClient } from "../../lib/queries";
import { useToasts } from "../../lib/toasts";

const { say } = useToasts.getState();

interface SettingsDraft {
  /** Null: nothing was changed. */
  draft: Settings | null;
  /** How often changes were thrown away. */
  discarded: number;
  saving: boolean;
  problem: Problem | null;
  change: (settings: Settings) => void;
  discard: () => void;
  save: () => Promise<void>;
}

export const useSettingsDraft = create<SettingsDraft>()((set, get) => ({
  draft: null,
  discarded: 0,
  saving: false,
  problem: null,
  change: (draft) => set({ draft, problem: null }),
  discard: () => set({ draft: null, problem: null, discarded: get().discarded + 1 }),
  async save() {
    const { draft } = get();
    if (!draft) return;
    set({ saving: true, problem: null });
    const before = queryClient.getQueryData(infoQuery.queryKey)?.settings;
    try {
      await client.saveSettings(draft);
      await catalogChanged();
      // An edit made while saving is newer than what was stored.
      set((now) => ({ saving: false, draft: now.draft === draft ? null : now.draft }));
      if (before)
        say("The settings are stored", { label: "Undo", run: () => void change(() => client.saveSettings(before)) });
    } catch (thrown) {
      set({ saving: false, problem: Problem.from(thrown) });
    }
  },
}));

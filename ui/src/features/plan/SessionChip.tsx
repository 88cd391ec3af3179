/** Who asks: the user, the flags that are on, and the name of the session. The tenant stands beside it. */
import * as Popover from "@radix-ui/react-popover";
import { CircleUser } from "lucide-react";
import { ListField } from "../../components/ListField";
import { changeContext } from "../../lib/context";
import { counted } from "../../lib/format";
import { useWindow } from "../../lib/store";

export function SessionChip({ tenants }: { tenants: string[] }) {
  const session = useWindow((s) => s.draft.session);
  const set = useWindow((s) => s.set);
  const words = [session.user, session.flags.length > 0 && counted(session.flags.length, "flag")].filter(Boolean);
  const put = (part: Partial<typeof session>) => changeContext({ session: { ...session, ...part } });
  return (
    <Popover.Root>
      <Popover.Trigger
        className="button session-chip"
        data-testid="session-chip"
        title="User, flags and session"
        data-set={words.length > 0 || undefined}
      >
        <CircleUser size={14} aria-hidden />
        <span className="truncate">{words.length > 0 ? words.join(" · ") : "Anybody"}</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover session-fields" align="start" sideOffset={4}>
          <label className="field">
            <span>Tenant</span>
            <input
              list="session-tenants"
              value={session.tenant}
              placeholder="no tenant"
              onChange={(e) => put({ tenant: e.target.value })}
            />
            <datalist id="session-tenants">
              {tenants.map((t) => (
                <option key={t} value={t} />
              ))}
            </datalist>
          </label>
          <label className="field">
            <span>User</span>
            <input
              data-testid="session-user"
              value={session.user}
              placeholder="nobody"
              onChange={(e) => put({ user: e.target.value })}
            />
          </label>
          <ListField
            label="Flags that are on"
            testId="session-flags"
            value={session.flags}
            placeholder="none"
            onChange={(flags) => put({ flags })}
          />
          <label className="field">
            <span>Session</span>
            <input
              value={session.id}
              placeholder="no session: activations last for the run"
              onChange={(e) => put({ id: e.target.value })}
            />
          </label>
          <Popover.Close className="link small" onClick={() => set({ view: "visibility", visibilityTab: "session" })}>
            Where the session stands
          </Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

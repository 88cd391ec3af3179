/** One lint's fix: first what it changes, then the click that makes it. */
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import { FieldDiff } from "../../components/FieldDiff";
import type { Lint } from "../../ipc/client";
import { fixLints } from "../../lib/edits";
import { useContextRequest } from "../../lib/planning";
import { infoQuery, toolQuery } from "../../lib/queries";
import { changesOf } from "./patch";

interface FixProps {
  lint: Lint;
  fix: NonNullable<Lint["fix"]>;
}

export function Fix({ lint, fix }: FixProps) {
  return (
    <Popover.Root>
      <Popover.Trigger className="button small" data-testid={`fix-${lint.code}-${lint.tools[0] ?? "settings"}`}>
        <Wrench size={12} aria-hidden /> Fix
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover fix" align="end" sideOffset={4}>
          <p>
            <strong>{fix.title}</strong>
          </p>
          <Preview fix={fix} />
          <Popover.Close
            className="button primary"
            data-testid="fix-apply"
            onClick={() => void fixLints({ codes: [lint.code], tools: lint.tools.slice(0, 1) })}
          >
            Apply
          </Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Preview({ fix: { target, patch } }: { fix: FixProps["fix"] }) {
  const { request, plan } = useContextRequest();
  const name = target.kind === "tool" ? target.name : "";
  const { data: detail } = useQuery({ ...toolQuery(name, request, plan), enabled: target.kind === "tool" });
  const { data: info } = useQuery(infoQuery);
  const before = target.kind === "tool" ? detail?.spec : info?.settings;
  return before ? <FieldDiff changes={changesOf(before, patch)} /> : null;
}

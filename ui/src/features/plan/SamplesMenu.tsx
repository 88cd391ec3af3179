import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { openSample } from "../../lib/context";
import { infoQuery } from "../../lib/queries";

export function SamplesMenu() {
  const [open, setOpen] = useState(false);
  const { data: info } = useQuery(infoQuery);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="button small" data-testid="samples-menu">
        Samples <ChevronDown size={12} aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" align="end" sideOffset={4}>
          <ul className="samples">
            {info?.samples.map((sample, i) => (
              <li key={sample.title}>
                <button
                  type="button"
                  data-testid={`sample-${i}`}
                  onClick={() => {
                    setOpen(false);
                    openSample(sample);
                  }}
                >
                  <strong>{sample.title}</strong>
                  <span>{sample.shows}</span>
                </button>
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

import { Check, EyeOff, Hourglass } from "lucide-react";
import type { Gate } from "../ipc/client";
import { GATE } from "../lib/words";
import "./seen.css";

const SEEN = {
  visible: { icon: Check, word: () => "visible" },
  deferred: { icon: Hourglass, word: () => "deferred" },
  hidden: { icon: EyeOff, word: (gate?: Gate) => (gate ? GATE[gate].toLowerCase() : "hidden") },
};

/** In a cell: whether the model sees the tool, finds it only by a search, or which gate hides it where one is given. */
export function Seen({ how, gate }: { how: keyof typeof SEEN; gate?: Gate }) {
  const { icon: Icon, word } = SEEN[how];
  return (
    <span className="seen" data-how={how}>
      <Icon size={13} aria-hidden /> {word(gate)}
    </span>
  );
}

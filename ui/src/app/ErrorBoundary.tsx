import { Component, type ReactNode } from "react";
import { ProblemNote } from "../components/ProblemNote";
import { Problem } from "../ipc/client";

/** A view that cannot be drawn says so in its own place; the rest of the window stays usable. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { problem: Problem | null }> {
  override state = { problem: null as Problem | null };

  static getDerivedStateFromError(error: unknown) {
    return { problem: Problem.from(error) };
  }

  override render() {
    const { problem } = this.state;
    if (!problem) return this.props.children;
    return (
      <div className="panel-column">
        <ProblemNote problem={problem} onDismiss={() => this.setState({ problem: null })} />
      </div>
    );
  }
}

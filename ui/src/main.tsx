import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
// Before the components: their own styles refine these.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/forms.css";
import "./styles/floating.css";
import "./styles/components.css";
import { App } from "./app/App";
import { ErrorBoundary } from "./app/ErrorBoundary";
import { followRuns } from "./app/followRuns";
import { followTheme } from "./app/theme";
import { queryClient } from "./lib/queries";
import { followWork } from "./lib/work";

followTheme();
void followRuns();
void followWork();

createRoot(document.getElementById("root")!).render(
  <QueryClientProvider client={queryClient}>
    <ErrorBoundary>
      <App />
    </ErrorBoundary>
  </QueryClientProvider>,
);

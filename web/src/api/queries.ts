import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import type { OperationName } from "verbatim-agent/api";
import { call, type Input, Refused } from "./client.ts";
import type { StudioEvent } from "./events.ts";
import { noteTask } from "./tasks.ts";

/** What the server said, kept until an event says that it may have changed. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: true,
      // A refusal stays one; silence is tried again.
      retry: (failures, thrown) => !(thrown instanceof Refused) && failures < 2,
      retryDelay: 1000,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** An operation that only reads, as a query: its name and input are its key. */
export function reading<N extends OperationName>(name: N, input: Input<N>) {
  return queryOptions({ queryKey: [name, input] as const, queryFn: ({ signal }) => call(name, input, signal) });
}

export { keepPreviousData };

const OF_RUNS = [
  "agent.show",
  "agent.list",
  "agent.live",
  "agent.diff",
  "agent.compare",
  "agent.feedback",
  "studio.home",
];

/** Marks what an event may have changed as old. Nothing of what is shown comes out of an event itself. */
export function applyEvent(event: StudioEvent): void {
  if (event.name === "task") noteTask(event.data.id);
  else forget(whatChanged(event));
}

function whatChanged(
  event: Exclude<StudioEvent, { readonly name: "task" }>,
): (name: string, input: unknown) => boolean {
  switch (event.name) {
    case "run":
      return (name, input) => OF_RUNS.includes(name) && (name !== "agent.show" || concerns(input, event.data.run_id));
    case "ledger":
      return (name) => name.startsWith("ledger.") || name === "studio.home";
    case "job":
      return (name) => name.startsWith("jobs.");
    case "world":
      return (name) => name.startsWith("world.") || name === "studio.home";
    case "session":
    case "reset":
      return () => true;
  }
}

function concerns(input: unknown, run: string): boolean {
  const asked = (input as { readonly run?: string }).run ?? "";
  return run === asked || run.startsWith(asked) || run.endsWith(asked);
}

function forget(isOld: (name: string, input: unknown) => boolean): void {
  void queries.invalidateQueries({ predicate: ({ queryKey: [name, input] }) => isOld(String(name), input) });
}

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";

export type Report = Output<"agent.show">;
export type Summary = Report["summary"];

/** The run of the address. Every part of its screen asks the same, and it is fetched once. */
export function useRun() {
  const run = useParams({ strict: false, select: (params: { run?: string }) => params.run ?? "" });
  return useQuery(reading("agent.show", { run }));
}

const AT_WORK: readonly Summary["outcome"][] = ["preparing", "working", "capturing", "judging", "verifying", "landing"];

export function isAtWork({ outcome }: Summary): boolean {
  return AT_WORK.includes(outcome);
}

import { useQuery } from "@tanstack/react-query";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";

export type Live = Output<"agent.live">["runs"][number];

const LOOK_MS = 1000;

/** What runs at work do at this moment, looked at every second for as long as somebody sees it. */
export function useLive(isAtWork: boolean): ReadonlyMap<string, Live> {
  const query = useQuery({
    ...reading("agent.live", {}),
    enabled: isAtWork,
    refetchInterval: LOOK_MS,
    staleTime: 0,
    retry: false,
  });
  return new Map((query.data?.runs ?? []).map((run) => [run.run_id, run]));
}

import type { CatalyticPorts, UserTerminal } from "../../../rooms/catalytic/index.ts";

/** Starts commands on a terminal of their own, connected with the caller's, where the guard can give them one. */
export function withTerminal(ports: CatalyticPorts, terminal: UserTerminal | null): CatalyticPorts {
  if (terminal === null) return ports;
  const { guards } = ports;
  return { ...ports, guards: { ...guards, launch: (request) => guards.launch({ ...request, terminal }) } };
}

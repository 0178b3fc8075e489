import { explainNetwork } from "../../app/agent/work/connections.ts";
import type { Output } from "../../app/operations.ts";
import { showLine } from "../../core/text/index.ts";
import type { Io } from "./io.ts";

type Report = Output<"agent.show">;

/** Every recorded connection of an attempt on a line of its own, and what they come to. */
export function renderConnections(
  { run_id, network }: Report["summary"],
  connections: NonNullable<Report["connections"]>,
  io: Io,
): void {
  io.line(`${io.paint.bold("agent run")} ${run_id}`);
  if (network === null || network.mode !== "allow") {
    const mode = network?.mode === "none" ? "the agent had no network" : "the agent could use the network";
    io.line(`  no connections are recorded: ${mode}`);
    return;
  }
  io.line(`  could reach ${network.hosts.length === 0 ? "nothing" : network.hosts.join(", ")}`);
  const rows = connections.map((one) => [
    one.t.slice(11, 23),
    one.via,
    showLine(one.port === null ? one.host : `${one.host}:${one.port}`),
    one.verdict,
    one.address ?? "",
    one.verdict === "allowed" ? `${one.bytes_out} out, ${one.bytes_in} in, ${one.ms} ms` : "",
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  for (const row of rows) {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
    io.line(`  ${row[3] === "allowed" ? line.trimEnd() : io.paint.warn(line.trimEnd())}`);
  }
  const said = explainNetwork(network);
  if (said !== null) io.line(said.says);
}

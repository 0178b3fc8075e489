import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Output } from "../../api/client.ts";
import { worldsApi } from "../../api/worlds.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { useWorld } from "./world-context.ts";

const said = words.worlds.beats;
const route = getRouteApi("/worlds/$world/inspector/$request");

type Call = Output<"world.call">;

/** One beat: every call of a model with exactly what it was sent and what it said. */
export function BeatPart(): ReactNode {
  const { id, isOwner } = useWorld();
  const { request } = route.useParams();
  const calls = useQuery({
    queryKey: ["world.calls", { world: id, request }],
    queryFn: () => worldsApi.calls(id, request),
    enabled: isOwner,
    staleTime: 0,
  });
  return (
    <div className={styles["part"]}>
      <p>
        <Link to="/worlds/$world/inspector" params={{ world: id }} search={(old) => old}>
          {said.list}
        </Link>
      </p>
      <h2>
        <Foreign text={request} />
      </h2>
      {isOwner ? (
        <Shown query={calls} lines={5}>
          {({ calls: made }) =>
            made.length === 0 ? (
              <p className={styles["plain"]}>{said.noCalls}</p>
            ) : (
              made.map((call, at) => <CallPart key={call.call_id} call={call} isFirst={at === 0} />)
            )
          }
        </Shown>
      ) : (
        <p className={styles["plain"]}>{words.failure.notAllowed}</p>
      )}
    </div>
  );
}

function CallPart(props: {
  readonly call: Output<"world.calls">["calls"][number];
  readonly isFirst: boolean;
}): ReactNode {
  const { call, isFirst } = props;
  const [isOpen, setOpen] = useState(isFirst);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Foreign text={[call.actor, call.model ?? call.provider].join(", ")} />{" "}
        <span className={styles["plain"]}>
          {said.tokens(call.estimated_tokens)}, {said.took(formatDuration(call.duration_ms))},{" "}
          <code>{call.verdict}</code>
        </span>
      </summary>
      {isOpen ? <CallDetails id={call.call_id} /> : null}
    </details>
  );
}

function CallDetails({ id: call }: { readonly id: string }): ReactNode {
  const { id } = useWorld();
  const query = useQuery({ queryKey: ["world.call", { world: id, call }], queryFn: () => worldsApi.call(id, call) });
  return (
    <Shown query={query} lines={5}>
      {(found) => (
        <>
          <Parts call={found} />
          <h3>{said.messages}</h3>
          {found.messages.map(({ role, content }, at) => (
            <pre key={String(at)} className={styles["code"]} tabIndex={0} role="group" aria-label={role}>
              <Foreign text={content} />
            </pre>
          ))}
          <h3>{said.answer}</h3>
          {found.raw === null ? (
            <p className={styles["plain"]}>{said.nothing}</p>
          ) : (
            <pre className={styles["code"]} tabIndex={0} role="group" aria-label={said.answer}>
              <Foreign text={found.raw} />
            </pre>
          )}
        </>
      )}
    </Shown>
  );
}

/** How much of the prompt each part took: as a bar, and as a table with the lines that are in it. */
function Parts({ call }: { readonly call: Call }): ReactNode {
  const { id } = useWorld();
  const parts = call.parts.filter(({ tokens }) => tokens > 1);
  const all = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  if (all === 0) return null;
  return (
    <>
      <h3>{said.parts}</h3>
      <div className={styles["bar"]} aria-hidden>
        {parts.map(({ part, tokens }) => (
          <span key={part} style={{ flexGrow: tokens, flexBasis: 0 }} />
        ))}
      </div>
      <table className={styles["table"]}>
        <tbody>
          {parts.map(({ part, tokens, entry_ids }) => (
            <tr key={part}>
              <th scope="row">
                <code>{part}</code>
              </th>
              <td>{said.tokens(tokens)}</td>
              <td>
                {entry_ids.slice(0, 12).map((entry, at) => (
                  <span key={entry}>
                    <Link to="/worlds/$world" params={{ world: id }} search={{ at: entry }} aria-label={entry}>
                      {words.number(at + 1)}
                    </Link>{" "}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

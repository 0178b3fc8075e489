import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Output } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { worldsApi } from "../../api/worlds.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { nameIn } from "./names.ts";
import { NEW_WRITER, toWriterSettings, type WriterDraft, WriterFields } from "./WriterFields.tsx";
import { useWorld } from "./world-context.ts";

const said = words.worlds.settings;

/** What the owner decides about a world, and who else may open it. */
export function WorldSettingsPart(): ReactNode {
  const { isOwner, world } = useWorld();
  if (!isOwner || world.settings === undefined) return <p className={styles["part"]}>{words.failure.notAllowed}</p>;
  return (
    <div className={styles["part"]}>
      <Decided settings={world.settings} />
      <Tokens />
    </div>
  );
}

type Settings = NonNullable<ReturnType<typeof useWorld>["world"]["settings"]>;

function Decided({ settings }: { readonly settings: Settings }): ReactNode {
  const { id } = useWorld();
  const { writer } = settings;
  const [title, setTitle] = useState(settings.title);
  const [mode, setMode] = useState(settings.players.mode);
  const [draft, setDraft] = useState<WriterDraft>({
    ...NEW_WRITER,
    kind: writer.kind,
    model: writer.model ?? "",
    base_url: writer.base_url ?? "",
    api_key_env: writer.api_key_env ?? "",
  });
  const [isSaved, setSaved] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const save = (event: FormEvent) => {
    event.preventDefault();
    setProblem(null);
    setSaved(false);
    worldsApi.settings(id, { title: title.trim(), players: { mode }, writer: toWriterSettings(draft) }).then(() => {
      setSaved(true);
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("world.") });
    }, setProblem);
  };
  return (
    <form className={styles["form"]} onSubmit={save}>
      <h2>{said.title}</h2>
      <label className={styles["field"]}>
        <span>{said.name}</span>
        <input value={title} maxLength={120} onChange={({ target }) => setTitle(target.value)} />
      </label>
      <fieldset className={styles["field"]}>
        <legend>{said.players}</legend>
        {(Object.keys(said.modes) as (typeof mode)[]).map((one) => (
          <label key={one} className={styles["choice"]}>
            <input type="radio" name="players" checked={mode === one} onChange={() => setMode(one)} />
            {said.modes[one]}
          </label>
        ))}
      </fieldset>
      <WriterFields draft={draft} change={(change) => setDraft({ ...draft, ...change })} />
      {problem === null ? null : <Failure thrown={problem} />}
      <p className={styles["acts"]}>
        <Button kind="primary" type="submit" isDisabled={isLost || title.trim() === ""}>
          {said.save}
        </Button>
        <span role="status">{isSaved ? said.saved : ""}</span>
      </p>
    </form>
  );
}

function Tokens(): ReactNode {
  const { id, people } = useWorld();
  const query = useQuery({
    queryKey: ["world.tokens", { world: id }],
    queryFn: () => worldsApi.tokens(id),
    staleTime: 0,
  });
  const [person, setPerson] = useState(people.people[0]?.person_id ?? people.operator.operator_id);
  const [role, setRole] = useState<keyof typeof said.roles>("player");
  const [label, setLabel] = useState("");
  const [made, setMade] = useState<Output<"world.token-make"> | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const isOperator = person === people.operator.operator_id;
  const roles: readonly (keyof typeof said.roles)[] = isOperator ? ["operator", "viewer"] : ["player", "viewer"];
  const chosen = roles.includes(role) ? role : roles[0]!;
  const make = (event: FormEvent) => {
    event.preventDefault();
    setProblem(null);
    const input = { person_id: person, role: chosen, ...(label.trim() === "" ? {} : { label: label.trim() }) };
    worldsApi.makeToken(id, input).then((token) => {
      setMade(token);
      setLabel("");
      void query.refetch();
    }, setProblem);
  };
  const revoke = (token: string) => {
    setProblem(null);
    worldsApi.revokeToken(id, token).then(() => void query.refetch(), setProblem);
  };
  return (
    <section aria-labelledby="access">
      <h2 id="access">{said.access}</h2>
      <p className={styles["plain"]}>{said.accessWhy}</p>
      <form className={styles["form"]} onSubmit={make}>
        <div className={styles["pair"]}>
          <label className={styles["field"]}>
            <span>{said.person}</span>
            <select value={person} onChange={({ target }) => setPerson(target.value)}>
              {people.people.map(({ person_id, display_name }) => (
                <option key={person_id} value={person_id}>
                  {display_name}
                </option>
              ))}
              <option value={people.operator.operator_id}>{people.operator.name}</option>
            </select>
          </label>
          <label className={styles["field"]}>
            <span>{said.role}</span>
            <select value={chosen} onChange={({ target }) => setRole(target.value as keyof typeof said.roles)}>
              {roles.map((one) => (
                <option key={one} value={one}>
                  {said.roles[one]}
                </option>
              ))}
            </select>
          </label>
          <label className={styles["field"]}>
            <span>{said.label}</span>
            <input value={label} maxLength={80} onChange={({ target }) => setLabel(target.value)} />
          </label>
        </div>
        <p>
          <Button type="submit" isDisabled={isLost}>
            {said.make}
          </Button>
        </p>
      </form>
      {made === null ? null : (
        <div role="status">
          <p className={styles["acts"]}>
            <code data-testid="token">{made.token}</code>
            <CopyButton text={made.token} label={words.copy.hash(said.token)} />
          </p>
          <p className={styles["plain"]}>{said.once}</p>
        </div>
      )}
      {problem === null ? null : <Failure thrown={problem} />}
      <h3>{said.tokens}</h3>
      <Shown query={query}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <p className={styles["plain"]}>{said.noTokens}</p>
          ) : (
            <ul className={styles["list"]}>
              {tokens.map(({ token_id, role: may, viewer, label: called, made_at, last_used_on, revoked_at }) => (
                <li key={token_id}>
                  <span>
                    <Foreign text={called ?? nameIn(people, viewer, "")} />{" "}
                    <span className={styles["plain"]}>{said.roles[may as keyof typeof said.roles] ?? may}</span>
                  </span>
                  {revoked_at === null ? (
                    <Button
                      kind="quiet"
                      isDisabled={isLost}
                      aria-label={said.revoke(called ?? nameIn(people, viewer, ""))}
                      onPress={() => revoke(token_id)}
                    >
                      {words.worlds.pin.remove}
                    </Button>
                  ) : (
                    <span className={styles["plain"]}>{said.revoked}</span>
                  )}
                  <span className={styles["facts"]}>
                    {made_at === null ? null : (
                      <span>
                        {said.madeOn} {made_at.slice(0, 10)}
                      </span>
                    )}
                    <span>{last_used_on === null ? said.unused : said.lastUsed(last_used_on)}</span>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { queries } from "../../api/queries.ts";
import { worldsApi } from "../../api/worlds.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { toPersonId } from "./names.ts";
import { useWorld } from "./world-context.ts";

const said = words.worlds.cast;

/** Everybody of the story; who is here is decided beside it. */
export function PeoplePart(): ReactNode {
  const { id, people, isOwner, isOperator, speaks, viewer } = useWorld();
  const [name, setName] = useState("");
  const [scene, setScene] = useState("");
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const attempt = (work: Promise<unknown>, done: () => void) => {
    setProblem(null);
    work.then(() => {
      done();
      void queries.invalidateQueries({ predicate: ({ queryKey: [one] }) => String(one).startsWith("world.") });
    }, setProblem);
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    const taken = [people.operator.operator_id, ...people.people.map(({ person_id }) => person_id)];
    const person = { person_id: toPersonId(name, taken, "PERSON"), display_name: name.trim() };
    attempt(worldsApi.addPerson(id, person), () => setName(""));
  };
  const begin = (event: FormEvent) => {
    event.preventDefault();
    attempt(worldsApi.scene(id, scene.trim()), () => setScene(""));
  };
  return (
    <div className={styles["part"]}>
      <section aria-labelledby="cast">
        <h2 id="cast">{said.title}</h2>
        <ul className={styles["list"]}>
          {people.people.map(({ person_id, display_name, present }) => (
            <li key={person_id}>
              <Link to="/worlds/$world/people/$person" params={{ world: id, person: person_id }} search={(old) => old}>
                <Foreign text={display_name} />
              </Link>
              <span className={styles["facts"]}>
                <span>{present ? said.present : said.absent}</span>
                {isOwner && viewer === undefined ? (
                  <Link to="/worlds/$world" params={{ world: id }} search={{ viewer: person_id }}>
                    <Foreign text={said.viewAs(display_name)} />
                  </Link>
                ) : null}
              </span>
            </li>
          ))}
        </ul>
      </section>
      {isOwner && speaks ? (
        <form className={styles["person"]} onSubmit={add}>
          <label className={styles["field"]}>
            <span>{said.add}</span>
            <input
              value={name}
              maxLength={80}
              placeholder={said.addName}
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          <Button type="submit" isDisabled={isLost || name.trim() === ""}>
            {said.add}
          </Button>
        </form>
      ) : null}
      {isOperator && speaks ? (
        <form className={styles["field"]} onSubmit={begin}>
          <label className={styles["field"]}>
            <span>{said.scene}</span>
            <textarea
              rows={2}
              dir="auto"
              value={scene}
              placeholder={said.sceneField}
              onChange={({ target }) => setScene(target.value)}
            />
          </label>
          <p>
            <Button type="submit" isDisabled={isLost}>
              {said.sceneAct}
            </Button>
          </p>
        </form>
      ) : null}
      {problem === null ? null : <Failure thrown={problem} />}
    </div>
  );
}

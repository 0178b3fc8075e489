import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { worldsApi } from "../../api/worlds.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { nameIn } from "./names.ts";
import { Prose } from "./Prose.tsx";
import { useWorld } from "./world-context.ts";

const said = words.worlds.cast;
const route = getRouteApi("/worlds/$world/people/$person");

/** What somebody has said, word for word, as far as the reader knows it. */
export function PersonPart(): ReactNode {
  const { id, people, viewer } = useWorld();
  const { person } = route.useParams();
  const query = useQuery({
    queryKey: ["world.capsule", { world: id, person, viewer }],
    queryFn: () => worldsApi.capsule(id, person, viewer),
  });
  return (
    <div className={styles["part"]}>
      <h2>
        <Foreign text={said.capsule(nameIn(people, person, words.worlds.knows.world))} />
      </h2>
      <Shown query={query} lines={6}>
        {({ sections }) => {
          const quoted = sections.filter(({ text }) => text !== "");
          if (quoted.length === 0) return <p className={styles["plain"]}>{said.nothing}</p>;
          return (
            <>
              <p className={styles["plain"]}>{said.quotes}</p>
              {quoted.map(({ name, text }) => (
                <p key={name} className={styles["quote"]} dir="auto">
                  <Prose text={text} />
                </p>
              ))}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ask, askLicences } from "../../api/client.ts";
import { useDialog } from "../../app/dialogs.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, unknown>>;
}

export function AboutPart(): ReactNode {
  const { open } = useDialog();
  const query = useQuery({
    queryKey: ["openapi"],
    queryFn: ({ signal }) => ask<Document>("GET", "/openapi.json", undefined, signal),
  });
  return (
    <Shown query={query}>
      {({ info, paths }) => (
        <dl className={styles["about"]}>
          <dt>{words.settings.version}</dt>
          <dd>{info.version}</dd>
          <dt>{words.settings.api}</dt>
          <dd>
            <code>/api/openapi.json</code>, {words.settings.routes(Object.keys(paths).length)}
          </dd>
          <dt>{words.settings.licences}</dt>
          <dd>
            <Licences />
          </dd>
          <dt>{words.settings.keys}</dt>
          <dd>
            <Button onPress={() => open("keys")}>{words.settings.showKeys}</Button>
          </dd>
        </dl>
      )}
    </Shown>
  );
}

/** The texts that came with what is built in, as they are; fetched when somebody wants to read them. */
function Licences(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        {isOpen ? words.settings.hideLicences : words.settings.showLicences}
      </Button>
      {isOpen ? <LicenceTexts /> : null}
    </>
  );
}

function LicenceTexts(): ReactNode {
  const query = useQuery({ queryKey: ["licences"], queryFn: ({ signal }) => askLicences(signal) });
  return (
    <Shown query={query} lines={8}>
      {(text) => (
        <pre className={styles["licences"]} tabIndex={0} aria-label={words.settings.licencesIn}>
          <Foreign text={text} />
        </pre>
      )}
    </Shown>
  );
}

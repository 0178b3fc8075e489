import { FileCheck, FolderOpen } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { openVerifier, verifyHere } from "../../api/verifier.ts";
import { announce } from "../../app/announce.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import type { Checked } from "../../workers/verify.ts";
import { BundleReport, sayVerdict } from "./BundleReport.tsx";
import styles from "./BundlesScreen.module.css";
import { type Taken, takeChosen, takeDropped } from "./take-dropped.ts";

type Stage = "reading" | "unpacking" | "verifying";

/** What is on the screen: nothing yet, a bundle that is being checked, or what came of it. */
type State =
  | { readonly at: "waiting" }
  | { readonly at: "checking"; readonly name: string; readonly stage: Stage }
  | { readonly at: "failed"; readonly thrown: unknown }
  | {
      readonly at: "done";
      readonly name: string;
      readonly checked: Checked;
      readonly requests: number;
      readonly took: number;
    };

/** A bundle is verified in this page, by the code of the command line. Nothing of it leaves the page. */
export function BundlesScreen(): ReactNode {
  const [state, setState] = useState<State>({ at: "waiting" });
  const [policy, setPolicy] = useState<File | null>(null);
  const [strict, setStrict] = useState(false);
  // Loaded before anything is dropped, so that not even the verifier is fetched afterwards.
  useEffect(() => {
    if (globalThis.isSecureContext) openVerifier();
  }, []);
  const check = async (taking: Promise<Taken> | Taken) => {
    const since = performance.now();
    try {
      const taken = await taking;
      setState({ at: "checking", name: taken.name, stage: "reading" });
      const checked = await verifyHere(
        "bundle",
        { dropped: taken.dropped, folders: taken.folders, policy, strict },
        (stage) => setState({ at: "checking", name: taken.name, stage }),
      );
      const here = performance.getEntriesByType("resource").filter(({ startTime }) => startTime >= since).length;
      const requests = here + ("requests" in checked ? checked.requests : 0);
      setState({ at: "done", name: taken.name, checked, requests, took: performance.now() - since });
      announce(sayVerdict(checked));
    } catch (thrown) {
      setState({ at: "failed", thrown });
    }
  };
  return (
    <Page title={words.bundles.title}>
      {globalThis.isSecureContext ? null : <p>{words.bundles.unsafe}</p>}
      {state.at === "waiting" && globalThis.isSecureContext ? (
        <>
          <Zone take={(taking) => void check(taking)} />
          <Options policy={policy} setPolicy={setPolicy} strict={strict} setStrict={setStrict} />
        </>
      ) : null}
      {state.at === "checking" ? (
        <p role="status" className={styles["checking"]}>
          <Foreign text={words.bundles.checking(state.name)} />
          <span>{words.bundles.stages[state.stage]}</span>
        </p>
      ) : null}
      {state.at === "failed" ? <Failure thrown={state.thrown} again={() => setState({ at: "waiting" })} /> : null}
      {state.at === "done" ? <BundleReport {...state} again={() => setState({ at: "waiting" })} /> : null}
    </Page>
  );
}

/** Where something is dropped; the buttons do the same for whoever drags nothing. */
function Zone({ take }: { readonly take: (taking: Promise<Taken> | Taken) => void }): ReactNode {
  const [isOver, setOver] = useState(false);
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const chosen = (input: HTMLInputElement) => {
    if (input.files !== null && input.files.length > 0) take(takeChosen(input.files));
  };
  return (
    // The buttons in it do the same by key.
    <section
      className={styles["zone"]}
      data-over={isOver}
      aria-label={words.bundles.zone}
      data-testid="drop-zone"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(takeDropped(event.dataTransfer));
      }}
    >
      <p className={styles["drop"]}>{words.bundles.drop}</p>
      <p className={styles["plain"]}>{words.bundles.what}</p>
      <div className={styles["acts"]}>
        <Button kind="primary" onPress={() => folder.current?.click()}>
          <FolderOpen size={18} strokeWidth={1.75} aria-hidden />
          {words.bundles.folder}
        </Button>
        <Button onPress={() => files.current?.click()}>
          <FileCheck size={18} strokeWidth={1.75} aria-hidden />
          {words.bundles.file}
        </Button>
      </div>
      <input
        ref={folder}
        type="file"
        hidden
        webkitdirectory=""
        aria-label={words.bundles.folder}
        data-testid="choose-folder"
        onChange={({ currentTarget }) => chosen(currentTarget)}
      />
      <input
        ref={files}
        type="file"
        hidden
        multiple
        aria-label={words.bundles.file}
        data-testid="choose-files"
        onChange={({ currentTarget }) => chosen(currentTarget)}
      />
    </section>
  );
}

function Options(props: {
  readonly policy: File | null;
  readonly setPolicy: (file: File | null) => void;
  readonly strict: boolean;
  readonly setStrict: (strict: boolean) => void;
}): ReactNode {
  const { policy, setPolicy, strict, setStrict } = props;
  const field = useRef<HTMLInputElement>(null);
  return (
    <section className={styles["options"]} aria-label={words.bundles.policy}>
      <label className={styles["strict"]}>
        <input type="checkbox" checked={strict} onChange={({ target }) => setStrict(target.checked)} />
        {words.bundles.strict}
      </label>
      <p className={styles["policy"]}>
        {policy === null ? (
          <Button onPress={() => field.current?.click()}>{words.bundles.policyChoose}</Button>
        ) : (
          <>
            <Foreign text={words.bundles.policyGiven(policy.name)} />
            <Button kind="quiet" onPress={() => setPolicy(null)}>
              {words.bundles.policyDrop}
            </Button>
          </>
        )}
      </p>
      <input
        ref={field}
        type="file"
        hidden
        accept=".json,application/json"
        aria-label={words.bundles.policyChoose}
        data-testid="choose-policy"
        onChange={({ currentTarget }) => setPolicy(currentTarget.files?.[0] ?? null)}
      />
    </section>
  );
}

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { reading } from "../../api/queries.ts";
import { Page } from "../../app/Page.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Tree } from "../../parts/Tree.tsx";
import { words } from "../../words/words.ts";
import styles from "./Jobs.module.css";

const said = words.jobs.receipt;
const route = getRouteApi("/jobs/receipts/$hash");

/** One receipt by its hash. */
export function ReceiptScreen(): ReactNode {
  const { hash } = route.useParams();
  const query = useQuery({ ...reading("jobs.receipt", { receipt_hash: hash }), retry: false });
  return (
    <Page title={said.title} aside={<Link to="/jobs">{words.jobs.title}</Link>}>
      <Shown query={query} lines={6}>
        {({ job_id, ordinal, receipt_hash, receipt }) => (
          <>
            <p>
              <Link to="/jobs/$job" params={{ job: job_id }}>
                {job_id}
              </Link>{" "}
              {said.step(ordinal)}
            </p>
            <p className={styles["hash"]}>
              <code>{receipt_hash}</code>
              <CopyButton text={receipt_hash} label={words.copy.hash(words.jobs.job.hash)} />
            </p>
            <div className={styles["tree"]}>
              <Tree value={receipt} />
            </div>
          </>
        )}
      </Shown>
    </Page>
  );
}

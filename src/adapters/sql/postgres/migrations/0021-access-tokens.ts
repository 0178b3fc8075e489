import type { PostgresMigration } from "../migration.ts";

/** Who may come in over HTTP: a token's hash, never the token. */
export const accessTokensMigration: PostgresMigration = {
  version: 21,
  name: "access-tokens",
  sql: (s) => `
create table ${s}.access_token (
  token_sha256 text collate "C" primary key check (token_sha256 ~ '^[0-9a-f]{64}$'),
  name text collate "C" not null unique,
  role text collate "C" not null check (role in ('reader', 'reviewer', 'owner')),
  created_by text collate "C" not null,
  created_ms bigint not null,
  expires_ms bigint not null,
  revoked_ms bigint
);
`,
};

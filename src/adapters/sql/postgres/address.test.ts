import { describe, expect, it } from "vitest";
import { parseAddress } from "./address.ts";

const FAR = "postgres://mira:secret@db.example:6000/ledger?sslmode=verify-full";

describe("a PostgreSQL address", () => {
  it("names the place without the password", () => {
    expect(parseAddress(FAR, 10_000).where).toBe("postgres mira@db.example:6000/ledger");
  });

  it("uses the schema verbatim unless its options set a search_path, which is not sent when a session starts", () => {
    expect(parseAddress(FAR, 10_000).schema).toBe("verbatim");
    const options = encodeURIComponent("-c search_path=harbour");
    const address = parseAddress(`postgres://mira@localhost/ledger?options=${options}&sslmode=disable`, 10_000);
    expect(address.schema).toBe("harbour");
    expect(address.connectionString).toBe("postgres://mira@localhost/ledger?sslmode=disable");
  });

  it("sets the time to wait for locks and the role in the message that opens a transaction", () => {
    expect(parseAddress(FAR, 250).begin("read committed read write", { role: "writer", workspace: null })).toBe(
      "begin isolation level read committed read write; set local search_path = 'verbatim'; " +
        "set local lock_timeout = '250'; set local idle_in_transaction_session_timeout = '10000'; " +
        "set local client_min_messages = 'warning'; set local role = 'writer'",
    );
  });

  it.each([
    "postgres://mira@localhost/ledger",
    "postgres://mira@127.0.0.1/ledger?sslmode=disable",
    "postgres://mira@db.example/ledger?host=%2Fvar%2Frun%2Fpostgresql",
    "postgres://mira@db.example/ledger?sslmode=verify-full",
  ])("is taken where nobody can stand in for the server: %s", (url) => {
    expect(parseAddress(url, 10_000).schema).toBe("verbatim");
  });

  it.each([
    "postgres://mira:secret@db.example/ledger",
    "postgres://mira:secret@db.example/ledger?sslmode=require",
    "postgres://mira:secret@db.example/ledger?sslmode=verify-ca",
    "postgres://mira:secret@db.example/ledger?sslmode=verify-full&sslmode=disable",
    "postgres://mira:secret@localhost/ledger?host=db.example",
    "postgres://mira:secret@127.0.0.1.example/ledger",
  ])("of another machine without a checked certificate is STORE_INSECURE: %s", (url) => {
    let thrown: unknown;
    try {
      parseAddress(url, 10_000);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "STORE_INSECURE", exit: 2 });
    expect(JSON.stringify(thrown)).not.toContain("secret");
  });

  it.each([
    ["postgres://mira:secret@db.example:nonsense/ledger"],
    [`postgres://mira:secret@db.example/ledger?options=${encodeURIComponent('-c search_path="; drop table x"')}`],
    ["postgres://mira:secret@db.example/ledger?options=%E0%A4%A"],
    [`postgres://mira:secret@localhost/ledger?options=${encodeURIComponent("-c search_path=a -c work_mem=8MB")}`],
  ])("that cannot be used is refused without showing its password: %s", (url) => {
    let thrown: unknown;
    try {
      parseAddress(url, 10_000);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "STORE_UNAVAILABLE" });
    const { cause } = thrown as Error;
    expect(`${String(thrown)} ${JSON.stringify(thrown)} ${String(cause)}`).not.toContain("secret");
  });
});

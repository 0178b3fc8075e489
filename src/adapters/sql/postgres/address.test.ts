import { describe, expect, it } from "vitest";
import { parseAddress } from "./address.ts";

const optionsOf = (url: string) => new URL(url).searchParams.get("options");

describe("a PostgreSQL address", () => {
  it("names the place without the password", () => {
    const { where } = parseAddress("postgres://mira:secret@db.example:6000/ledger", 10_000);
    expect(where).toBe("postgres mira@db.example:6000/ledger");
  });

  it("uses the schema verbatim unless its options set a search_path", () => {
    expect(parseAddress("postgres://mira@db.example/ledger", 10_000).schema).toBe("verbatim");
    const options = encodeURIComponent("-c search_path=harbour -c work_mem=8MB");
    const address = parseAddress(`postgres://mira@db.example/ledger?options=${options}&sslmode=disable`, 10_000);
    expect(address.schema).toBe("harbour");
    expect(optionsOf(address.connectionString(null))).toMatch(/^-c work_mem=8MB -c search_path=harbour /);
    expect(address.connectionString(null)).toContain("sslmode=disable");
  });

  it("sets the time to wait for locks and the role for every session", () => {
    const options = optionsOf(parseAddress("postgres://mira@db.example/ledger", 250).connectionString("writer"));
    expect(options).toContain("-c lock_timeout=250 ");
    expect(options).toMatch(/-c role=writer$/);
  });

  it.each([
    ["postgres://mira:secret@db.example:nonsense/ledger"],
    [`postgres://mira:secret@db.example/ledger?options=${encodeURIComponent('-c search_path="; drop table x"')}`],
    ["postgres://mira:secret@db.example/ledger?options=%E0%A4%A"],
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

import { beforeEach, describe, expect, it } from "vitest";
import { OWNER } from "./caller.ts";
import { Sessions, toLabel } from "./sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let now: number;
let sessions: Sessions;

beforeEach(() => {
  now = Date.UTC(2026, 4, 3, 9);
  sessions = new Sessions(() => now);
});

const ids = () => sessions.list().map(({ id }) => id);
const refusal = (act: () => unknown) => {
  try {
    act();
  } catch (thrown) {
    const { code, message } = thrown as { readonly code: string; readonly message: string };
    return [code, message];
  }
  return null;
};

describe("a link", () => {
  it("opens one session, up to ten minutes after it was made", () => {
    const [soon, late] = [sessions.makeCode(), sessions.makeCode()];
    expect(soon).toMatch(/^[0-9a-f]{32}$/);
    now += 10 * MINUTE - 1;
    const { secret, session } = sessions.exchange(soon, "Firefox on Linux", OWNER);
    expect(secret).toMatch(/^vs_[0-9a-f]{64}$/);
    expect(sessions.find(secret)).toBe(session);
    now += 1;
    expect(refusal(() => sessions.exchange(late, "Chrome", OWNER))).toEqual([
      "LINK_SPENT",
      "The link is unknown, too old, or was used before.",
    ]);
    expect(refusal(() => sessions.exchange("0".repeat(32), "Chrome", OWNER))?.[0]).toBe("LINK_SPENT");
    expect(sessions.list()).toEqual([
      {
        id: session.id,
        label: "Firefox on Linux",
        role: "owner",
        world_id: null,
        opened_by: "link",
        since: "2026-05-03T09:09:59.999Z",
        last_use: "2026-05-03T09:09:59.999Z",
      },
    ]);
  });

  it("that comes a second time ends what it opened, however late, and both sides are told", () => {
    const code = sessions.makeCode();
    const { secret } = sessions.exchange(code, "Firefox", OWNER);
    now += 11 * HOUR;
    expect(refusal(() => sessions.exchange(code, "a program", OWNER))).toEqual([
      "LINK_SPENT",
      "the link was used before; the session it had opened was ended",
    ]);
    expect(refusal(() => sessions.find(secret))).toEqual([
      "SESSION_ENDED",
      "the session was ended: its link was used a second time",
    ]);
    expect(ids()).toEqual([]);
  });

  it("does not push out another one until there are many", () => {
    const first = sessions.makeCode();
    for (let i = 0; i < 15; i++) sessions.makeCode();
    const [second] = [sessions.makeCode()];
    expect(refusal(() => sessions.exchange(first, "Chrome", OWNER))?.[0]).toBe("LINK_SPENT");
    expect(refusal(() => sessions.exchange(second!, "Chrome", OWNER))).toBe(null);
  });
});

describe("a session", () => {
  it("lives as long as somebody uses it at least every twelve hours", () => {
    const { secret, session } = sessions.open("Chrome", OWNER, "token");
    for (let i = 0; i < 3; i++) {
      now += 12 * HOUR - 1;
      expect(sessions.find(secret)?.id).toBe(session.id);
    }
    expect(sessions.endsAt(session)).toBe(new Date(now + 12 * HOUR).toISOString());
    now += 12 * HOUR;
    expect(refusal(() => sessions.find(secret))).toEqual([
      "SESSION_ENDED",
      "the session was ended: nobody used it for twelve hours",
    ]);
  });

  it("is ended by its public id, which opens nothing", () => {
    const { secret, session } = sessions.open("Chrome", OWNER, "token");
    const { session: other } = sessions.open("Firefox", OWNER, "token");
    expect(sessions.find(session.id)).toBe(null);
    expect([sessions.end("nobody"), sessions.end(session.id), sessions.end(session.id)]).toEqual([false, true, false]);
    expect(refusal(() => sessions.find(secret))?.[0]).toBe("SESSION_ENDED");
    expect(ids()).toEqual([other.id]);
  });

  it("is told apart from a token, and one of another server is none", () => {
    expect(sessions.find("vo_token")).toBe(null);
    expect(sessions.find(`vs_${"A".repeat(64)}`)).toBe(null);
    expect(refusal(() => sessions.find(`vs_${"a".repeat(64)}`))).toEqual(["SESSION_ENDED", "The session has ended."]);
  });

  it("ends when very many were opened after it", () => {
    const { secret } = sessions.open("Chrome", OWNER, "token");
    for (let i = 0; i < 255; i++) sessions.open("Chrome", OWNER, "token");
    expect(sessions.find(secret)?.label).toBe("Chrome");
    sessions.open("Chrome", OWNER, "token");
    expect(refusal(() => sessions.find(secret))?.[1]).toContain("too many sessions");
    expect(ids()).toHaveLength(256);
  });
});

describe("what a browser calls itself", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/147.0 Safari/537.36 Edg/147.0", "Edge on Windows"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit Version/19.0 Safari/604.1",
      "Safari on iPhone",
    ],
    ["Chrome/1 <script>", "Chrome"],
    ["curl/8.1", "a program"],
    [undefined, "a program"],
  ])("%s is %s", (sent, shown) => {
    expect(toLabel(sent)).toBe(shown);
  });
});

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { App } from "../../app/call.ts";
import { OPERATOR, OWNER, VIEWER } from "../../core/operation.ts";
import { type Caller, Callers, requireOwner, requireRight, requireWorld, viewerOf } from "./caller.ts";
import { Sessions } from "./sessions.ts";

const OWNER_TOKEN = "vo_the-token-of-the-owner";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

// The room answers by the hash of a token; this one knows an operator and a viewer.
const KNOWN = new Map([
  [sha256("operator-token"), { role: "operator", world_id: "w1", viewer: null }],
  [sha256("viewer-token"), { role: "viewer", world_id: "w1", viewer: "anna" }],
]);
const asked: unknown[] = [];
const app = {
  call: async (name: string, input: { readonly token_sha256: string }) => {
    asked.push([name, input]);
    return KNOWN.get(input.token_sha256) ?? { role: null, world_id: null, viewer: null };
  },
} as unknown as App;

const owner: Caller = { role: "owner", world_id: null, viewer: null, counted_as: null, session_id: null };
const operator: Caller = { role: "operator", world_id: "w1", viewer: null, counted_as: "a", session_id: null };
const viewer: Caller = { role: "viewer", world_id: "w1", viewer: "anna", counted_as: "b", session_id: null };

describe("who is asking", () => {
  const guarded = new Callers(app, OWNER_TOKEN, new Sessions());
  const open = new Callers(app, null, new Sessions());

  it("is the owner with the owner's token, and is counted", async () => {
    asked.length = 0;
    expect(await guarded.identify(`Bearer ${OWNER_TOKEN}`)).toEqual({ ...owner, counted_as: "owner" });
    expect(asked).toEqual([]);
  });

  it("is the owner without any token only where the owner chose to have none", async () => {
    expect(await open.identify(undefined)).toEqual(owner);
    await expect(guarded.identify(undefined)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  });

  it.each(["", "Bearer ", "Basic abc", OWNER_TOKEN, `Bearer ${OWNER_TOKEN}x`, `Bearer ${OWNER_TOKEN.slice(1)}`])(
    "is nobody with %j, also where the owner has no token",
    async (authorization) => {
      await expect(guarded.identify(authorization)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      await expect(open.identify(authorization)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    },
  );

  it("is whom the room knows by the hash of the token, and is counted by that hash", async () => {
    asked.length = 0;
    const counted_as = sha256("viewer-token");
    expect(await guarded.identify("Bearer viewer-token")).toEqual({ ...viewer, counted_as });
    expect(asked).toEqual([["world.authorize", { token_sha256: counted_as }]]);
    expect(await open.identify("Bearer operator-token")).toEqual({ ...operator, counted_as: sha256("operator-token") });
  });

  it("is whoever opened the session, as long as the token that opened it is known", async () => {
    const sessions = new Sessions();
    const callers = new Callers(app, OWNER_TOKEN, sessions);
    const mine = sessions.open("Chrome", await callers.identifyToken(OWNER_TOKEN), "token");
    expect(await callers.identify(`Bearer ${mine.secret}`)).toEqual({
      ...owner,
      counted_as: "owner",
      session_id: mine.session.id,
    });
    const anna = sessions.open("Chrome", await callers.identifyToken("viewer-token"), "token");
    const counted_as = sha256("viewer-token");
    const known = KNOWN.get(counted_as)!;
    expect(await callers.identify(`Bearer ${anna.secret}`)).toEqual({
      ...viewer,
      counted_as,
      session_id: anna.session.id,
    });
    KNOWN.delete(counted_as);
    await expect(callers.identify(`Bearer ${anna.secret}`)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    KNOWN.set(counted_as, known);
    await expect(callers.identify(`Bearer vs_${"0".repeat(64)}`)).rejects.toMatchObject({ code: "SESSION_ENDED" });
  });
});

describe("what a caller may do", () => {
  it("the owner comes into every world, holders of a token into theirs", () => {
    expect(() => requireWorld(owner, "w2")).not.toThrow();
    for (const caller of [operator, viewer]) {
      expect(() => requireWorld(caller, "w1")).not.toThrow();
      expect(() => requireWorld(caller, "w2")).toThrow(
        expect.objectContaining({ code: "WORLD_NOT_FOUND", where: "w2" }),
      );
    }
  });

  it("only the owner does what is the owner's", () => {
    expect(() => requireOwner(owner)).not.toThrow();
    for (const caller of [operator, viewer]) {
      expect(() => requireOwner(caller)).toThrow(expect.objectContaining({ code: "OWNER_ONLY" }));
    }
  });

  it("a viewer does not operate", () => {
    for (const caller of [owner, operator]) expect(() => requireRight(caller, OPERATOR)).not.toThrow();
    for (const caller of [owner, operator, viewer]) expect(() => requireRight(caller, VIEWER)).not.toThrow();
    expect(() => requireRight(operator, OWNER)).toThrow(expect.objectContaining({ code: "OWNER_ONLY" }));
    expect(() => requireRight(viewer, OPERATOR)).toThrow(expect.objectContaining({ code: "OPERATOR_ONLY" }));
  });

  it("the owner reads as anybody, everybody else as themselves", () => {
    expect(viewerOf(owner, "berta")).toBe("berta");
    expect(viewerOf(owner, undefined)).toBe(undefined);
    expect(viewerOf(viewer, undefined)).toBe("anna");
    expect(viewerOf(viewer, "anna")).toBe("anna");
    expect(viewerOf(operator, undefined)).toBe(undefined);
    for (const caller of [viewer, operator]) {
      expect(() => viewerOf(caller, "berta")).toThrow(
        expect.objectContaining({ code: "VIEWER_DENIED", where: "/viewer" }),
      );
    }
  });
});

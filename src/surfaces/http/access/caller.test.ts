import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { App } from "../../../app/call.ts";
import { OPERATOR, OWNER, VIEWER } from "../../../core/operation.ts";
import { type Caller, Callers, requireOwner, requireRight, requireWorld, viewerOf } from "./caller.ts";
import { Sessions } from "./sessions.ts";

const OWNER_TOKEN = "vo_the-token-of-the-owner";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const TEAM_TOKEN = `vt_${"7".repeat(64)}`;

// The room answers by the hash of a token; this one knows an operator and a viewer, and the team a reviewer.
const KNOWN = new Map<string, object>([
  [sha256("operator-token"), { role: "operator", world_id: "w1", viewer: null }],
  [sha256("viewer-token"), { role: "viewer", world_id: "w1", viewer: "anna" }],
]);
const MEMBERS = new Map<string, object>([[sha256(TEAM_TOKEN), { role: "reviewer", name: "carla" }]]);
const asked: unknown[] = [];
const app = {
  call: async (name: string, input: { readonly token_sha256: string }) => {
    asked.push([name, input]);
    if (name === "team.authorize") return MEMBERS.get(input.token_sha256) ?? { role: null, name: null };
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

  describe("with the token of somebody of a team", () => {
    const counted_as = sha256(TEAM_TOKEN);
    const carla = { role: "reviewer", name: "carla", world_id: null, viewer: null, counted_as } as const;

    it("is whom the team knows by its hash, and no room is asked", async () => {
      asked.length = 0;
      expect(await guarded.identify(`Bearer ${TEAM_TOKEN}`)).toEqual({ ...carla, session_id: null });
      expect(asked).toEqual([["team.authorize", { token_sha256: counted_as }]]);
    });

    it("is nobody where the team says neither who it is nor what they may do, or only one of the two", async () => {
      const other = `vt_${"8".repeat(64)}`;
      for (const answer of [
        { role: null, name: null },
        { role: "reviewer", name: null },
        { role: null, name: "carla" },
      ]) {
        MEMBERS.set(sha256(other), answer);
        await expect(guarded.identify(`Bearer ${other}`)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      }
    });

    it("is asked again in every request of the session it opened, and of nobody else's", async () => {
      const sessions = new Sessions();
      const callers = new Callers(app, OWNER_TOKEN, sessions);
      const { secret, session } = sessions.open("Chrome", await callers.identifyToken(TEAM_TOKEN), "token");
      asked.length = 0;
      expect(await callers.identify(`Bearer ${secret}`)).toEqual({ ...carla, session_id: session.id });
      expect(asked).toEqual([["team.authorize", { token_sha256: counted_as }]]);
      const known = MEMBERS.get(counted_as)!;
      MEMBERS.delete(counted_as);
      await expect(callers.identify(`Bearer ${secret}`)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      // An owner of a team is known by a token that can be revoked, unlike the owner of the installation.
      MEMBERS.set(counted_as, { role: "owner", name: "carla" });
      const owning = sessions.open("Chrome", await callers.identifyToken(TEAM_TOKEN), "token");
      MEMBERS.delete(counted_as);
      await expect(callers.identify(`Bearer ${owning.secret}`)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      MEMBERS.set(counted_as, known);
    });

    it("is no token of a team when it only looks like one", async () => {
      for (const token of [`${TEAM_TOKEN}7`, `x${TEAM_TOKEN}`, TEAM_TOKEN.slice(0, -1), TEAM_TOKEN.toUpperCase()]) {
        asked.length = 0;
        await expect(guarded.identify(`Bearer ${token}`)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
        expect(asked).toEqual([["world.authorize", { token_sha256: sha256(token) }]]);
      }
    });
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

  it("a member of a team does what a role may, and in no world what only a world's token may", () => {
    const member = (role: "reader" | "reviewer"): Caller => ({ ...owner, role, name: "carla" });
    const needs = (workspace: "reader" | "reviewer" | "owner") => ({ workspace });
    for (const [role, needed] of [
      ["reader", "reader"],
      ["reviewer", "reader"],
      ["reviewer", "reviewer"],
    ] as const) {
      expect(() => requireRight(member(role), needs(needed))).not.toThrow();
    }
    for (const [role, needed] of [
      ["reader", "reviewer"],
      ["reader", "owner"],
      ["reviewer", "owner"],
    ] as const) {
      const refused = { code: "ROLE_FORBIDDEN", details: { role, needed } };
      expect(() => requireRight(member(role), needs(needed))).toThrow(expect.objectContaining(refused));
      expect(() => requireRight(member(role), { ...OPERATOR, ...needs(needed) })).toThrow(
        expect.objectContaining(refused),
      );
    }
    for (const role of ["reader", "reviewer"] as const) {
      expect(() => requireOwner(member(role))).toThrow(
        expect.objectContaining({ code: "ROLE_FORBIDDEN", details: { role, needed: "owner" } }),
      );
      expect(() => requireWorld(member(role), "w1")).toThrow(expect.objectContaining({ code: "WORLD_NOT_FOUND" }));
    }
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

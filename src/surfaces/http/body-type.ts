import { VerbatimError } from "../../core/errors/index.ts";

export const JSON_TYPE = "application/json";
export const FILE_TYPE = "application/octet-stream";

/** The media type a request says it has, without parameters. */
function typeOf(headers: Headers): string | null {
  const type = headers.get("content-type");
  return type === null ? null : type.replace(/;.*$/s, "").trim().toLowerCase();
}

/** BODY_TYPE_REFUSED for what a form of a web page could send. */
export function refuseForms(headers: Headers): void {
  const type = typeOf(headers);
  if (type !== null && type !== JSON_TYPE && type !== FILE_TYPE) throw refused(type, [JSON_TYPE, FILE_TYPE]);
}

/** BODY_TYPE_REFUSED unless a body has this type. A body without a type is a surprise as well. */
export function requireType(headers: Headers, type: string, hasBody: boolean): void {
  const said = typeOf(headers);
  if (said === type || (said === null && !hasBody)) return;
  throw refused(said, [type]);
}

function refused(type: string | null, allowed: readonly string[]): VerbatimError {
  return new VerbatimError("BODY_TYPE_REFUSED", {
    message: `the body has ${type === null ? "no content type" : `the content type ${type.slice(0, 100)}`}`,
    where: "Content-Type",
    fix: `Send Content-Type: ${allowed.join(" or ")}.`,
    details: { allowed: [...allowed] },
  });
}

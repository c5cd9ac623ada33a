// Text from elsewhere as text: nothing in it steers the page, and what would be invisible is shown.

// control characters, marks that reorder text, characters without a width, broken halves of pairs
// eslint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LINE = 300;

/** Return text with what would steer or hide made visible. */
export function plain(text: unknown): string {
  return String(text ?? "").replace(STEERING, (mark) => {
    const code = mark.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Return text for one line of a list. */
export function lineOf(text: unknown): string {
  const whole = plain(text).replace(/\s+/g, " ");
  return whole.length > LINE ? `${whole.slice(0, LINE)}…` : whole;
}

const UNITS: [number, string][] = [
  [31536000, "y"],
  [2592000, "mo"],
  [604800, "w"],
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** Return how long ago a time was, in one short word. */
export function age(stamp: string | null | undefined, now: number = Date.now()): string {
  const at = Date.parse(stamp ?? "");
  if (Number.isNaN(at)) {
    return plain(stamp ?? "");
  }
  const gone = Math.max(0, (now - at) / 1000);
  for (const [size, name] of UNITS) {
    if (gone >= size) {
      return `${Math.floor(gone / size)} ${name}`;
    }
  }
  return "now";
}

/** Return a time for a title: local, to the minute. */
export function whole(stamp: string | null | undefined): string {
  const at = new Date(stamp ?? "");
  return Number.isNaN(at.getTime()) ? plain(stamp ?? "") : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function day(stamp: string): string {
  const at = new Date(stamp);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
}

export function number(value: number): string {
  return value.toLocaleString("en-US");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function short(id: string): string {
  return id.length > 20 ? id.slice(-8) : id;
}

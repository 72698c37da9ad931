/** JSON as Go writes it: what Rancher's server and the original agent read and compare. */

const HTML = /[<>&\u2028\u2029]/g;

/** A value without maps in it: `<`, `>` and `&` are escaped, as `encoding/json` does unless it is asked not to. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    HTML,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A struct: members in the given order, without those that are undefined. */
export function goStruct(members: readonly (readonly [string, string | undefined])[]): string {
  const present = members.filter(([, json]) => json !== undefined);
  return `{${present.map(([name, json]) => `${goJson(name)}:${json}`).join(',')}}`;
}

/** A map: its keys are sorted by their bytes. Built as text, since an object of JavaScript puts `"10"` after `"9"`. */
export function goMap<T>(map: Readonly<Record<string, T>>, jsonOf: (value: T) => string): string {
  const sorted = Object.entries(map).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return goStruct(sorted.map(([name, value]) => [name, jsonOf(value)]));
}

/** JSON as Go writes it: what Rancher's server and the original agent read and compare. */

const HTML = /[<>&\u2028\u2029]/;
const EVERY_HTML = /[<>&\u2028\u2029]/g;

/** A value without maps in it: `<`, `>` and `&` are escaped, as `encoding/json` does unless it is asked not to. */
export function goJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!HTML.test(json)) return json;
  return json.replace(
    EVERY_HTML,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A struct: members in the given order, without those that are undefined. */
export function goStruct(members: readonly (readonly [string, string | undefined])[]): string {
  let shown = '';
  for (const [name, json] of members)
    if (json !== undefined) shown += `${shown && ','}${goJson(name)}:${json}`;
  return `{${shown}}`;
}

/** A map: its keys are sorted by their bytes. Built as text, since an object of JavaScript puts `"10"` after `"9"`. */
export function goMap<T>(map: Readonly<Record<string, T>>, jsonOf: (value: T) => string): string {
  const sorted = Object.entries(map).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return goStruct(sorted.map(([name, value]) => [name, jsonOf(value)]));
}

/** Writes JSON exactly as Go does, because Rancher's server and the Go agent compare the text. */

const HTML = /[<>&\u2028\u2029]/;
const EVERY_HTML = /[<>&\u2028\u2029]/g;

/** The value must not contain maps; `goMap` writes those. Escapes `<`, `>` and `&`, as `encoding/json` does. */
export function goJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!HTML.test(json)) return json;
  return json.replace(
    EVERY_HTML,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function goStruct(members: readonly (readonly [string, string | undefined])[]): string {
  let shown = '';
  for (const [name, json] of members)
    if (json !== undefined) shown += `${shown && ','}${goJson(name)}:${json}`;
  return `{${shown}}`;
}

/** Sorts keys by bytes. Builds text, because a JavaScript object puts `"10"` after `"9"`. */
export function goMap<T>(map: Readonly<Record<string, T>>, jsonOf: (value: T) => string): string {
  const sorted = Object.entries(map).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return goStruct(sorted.map(([name, value]) => [name, jsonOf(value)]));
}

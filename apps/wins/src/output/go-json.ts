/** Returns JSON as Go's encoding/json writes it: escapes `<`, `>`, `&` and the two line separators of JavaScript. */
export function goJson(value: unknown, isIndented = false): string {
  return JSON.stringify(value, null, isIndented ? 2 : 0).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

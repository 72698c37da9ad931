interface Version {
  readonly numbers: readonly [number, number, number];
  readonly pre: readonly string[];
}

const VERSION =
  /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, pre] = VERSION.exec(text) ?? [];
  if (major === undefined) return undefined;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    pre: pre?.split('.') ?? [],
  };
}

/**
 * Compares two releases by the rules of semantic versions, a leading `v` or not.
 *
 * @returns Below zero when `left` is older, above when it is newer, 0 when neither; undefined when one of the two is no
 *   semantic version, such as `dev`.
 */
export function compareVersions(left: string, right: string): number | undefined {
  const a = parseVersion(left);
  const b = parseVersion(right);
  if (a === undefined || b === undefined) return undefined;
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // A release is newer than its own pre-releases.
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  for (let index = 0; index < Math.max(a.pre.length, b.pre.length); index += 1) {
    const difference = compareIdentifiers(a.pre[index], b.pre[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : 1;
}

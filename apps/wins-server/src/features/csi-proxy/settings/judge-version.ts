import { quoteText } from '@wins/wins-program';

export type VersionNumbers = readonly [major: number, minor: number, patch: number];

/** Whether a version of csi-proxy can be a service, and what is to be said of it. */
export type JudgedVersion =
  | { readonly numbers: VersionNumbers; readonly doubt?: string }
  | { readonly found: string; readonly wanted: string };

const VERSION =
  /^v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?$/;
const MAX_LENGTH = 64;
/** The first release that does not let a path become part of a command. */
const SAFE: VersionNumbers = [1, 1, 3];

/** Judges a version. It becomes part of an address and the name of a folder: nothing but a version passes. */
export function judgeVersion(text: string): JudgedVersion {
  const wanted = 'a release such as v1.1.3';
  const parts = text.length > MAX_LENGTH ? null : VERSION.exec(text);
  if (parts === null) return { found: quoteText(text, { maxLength: MAX_LENGTH }), wanted };
  const numbers = [Number(parts[1]), Number(parts[2]), Number(parts[3])] as const;
  const [major] = numbers;
  if (major >= 2) {
    const found = `${text}: from v2 on csi-proxy is a library for drivers that run in HostProcess containers, without a program to install`;
    return { found, wanted: `${wanted}, or no section csi-proxy` };
  }
  if (major < 1) return { found: `${text}, which cannot be a service`, wanted };
  if (isAtLeast(numbers, SAFE) && parts[4] === undefined) return { numbers };
  if (isAtLeast(numbers, [1, 1, 4])) return { numbers };
  const doubt = `${text} lets whoever may mount a volume run commands on the host; v1.1.3 is the first release that does not`;
  return { numbers, doubt };
}

export function isAtLeast(numbers: VersionNumbers, other: VersionNumbers): boolean {
  const index = numbers.findIndex((number, at) => number !== other[at]);
  return index === -1 || (numbers[index] ?? 0) > (other[index] ?? 0);
}

/** How a server wants to be asked. */
export interface Challenge {
  /** Lower case: `basic`, `bearer`. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const MAX_LENGTH = 8192;
const PART = /\s*,?\s*(?:([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)(?=\s|,|$))/y;

/** Reads a `WWW-Authenticate` header; what cannot be read ends it. */
export function parseChallenges(header: string): readonly Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  if (header.length > MAX_LENGTH) return challenges;
  PART.lastIndex = 0;
  for (let match = PART.exec(header); match !== null; match = PART.exec(header)) {
    const [, name, quoted, bare, scheme] = match;
    if (scheme !== undefined)
      challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined)
      challenges
        .at(-1)
        ?.parameters.set(name.toLowerCase(), bare ?? quoted?.replace(/\\(.)/g, '$1') ?? '');
  }
  return challenges;
}

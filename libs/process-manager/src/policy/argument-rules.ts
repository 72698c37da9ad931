import { quoteText } from '@wins/base';
import { parsePath, type PathDialect, describePathRule } from './parsed-path.js';

/** Pattern of one argument: a literal text, or a form with an optional literal prefix `after`, such as `--port=`. */
export type ArgumentPattern = string | ArgumentForm;

/** Form of an argument whose text varies. */
export type ArgumentForm = { readonly after?: string | undefined } & (
  | { readonly integer: { readonly min: number; readonly max: number } }
  /** 1 to 65535. */
  | { readonly port: true }
  /**
   * An absolute path below this folder, judged by spelling alone. Refuses parts that the system would reinterpret,
   * such as `..`.
   */
  | { readonly pathUnder: string }
  | { readonly oneOf: readonly string[] }
);

/** Arguments that a client may pass: none, any, or exactly one of these complete argument lists. */
export type ArgumentRules = 'none' | 'any' | readonly (readonly ArgumentPattern[])[];

// Canonical decimal: an optional minus, no leading zeros, no blanks.
const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/;

export function allowsArguments(
  rules: ArgumentRules,
  args: readonly string[],
  dialect: PathDialect,
): boolean {
  if (rules === 'any') return true;
  if (rules === 'none') return args.length === 0;
  return rules.some(
    (patterns) =>
      patterns.length === args.length &&
      patterns.every((pattern, index) => fits(pattern, args[index] ?? '', dialect)),
  );
}

export function faultOfArgumentRules(
  rules: ArgumentRules,
  dialect: PathDialect,
): string | undefined {
  if (typeof rules === 'string') return undefined;
  for (const pattern of rules.flat()) {
    if (typeof pattern === 'string') continue;
    if ('oneOf' in pattern && pattern.oneOf.length === 0)
      return '"oneOf" of its "args" has no word; wanted at least one';
    if ('integer' in pattern && pattern.integer.min > pattern.integer.max) {
      return '"integer" of its "args" has a min above its max; wanted a min of at most the max';
    }
    if ('pathUnder' in pattern) {
      const parsed = parsePath(pattern.pathUnder, dialect);
      if ('refused' in parsed)
        return `"pathUnder" ${quoteText(pattern.pathUnder)} of its "args" cannot be used: ${describePathRule(parsed.refused)}`;
    }
  }
  return undefined;
}

function fits(pattern: ArgumentPattern, argument: string, dialect: PathDialect): boolean {
  if (typeof pattern === 'string') return argument === pattern;
  const { after = '' } = pattern;
  if (!argument.startsWith(after)) return false;
  const text = argument.slice(after.length);
  if ('oneOf' in pattern) return pattern.oneOf.includes(text);
  if ('pathUnder' in pattern) return isUnder(pattern.pathUnder, text, dialect);
  const { min, max } = 'port' in pattern ? { min: 1, max: 65_535 } : pattern.integer;
  return INTEGER.test(text) && Number(text) >= min && Number(text) <= max;
}

/** Compares whole components: `C:\etc\nginx-evil` is not under `C:\etc\nginx`. */
function isUnder(folder: string, text: string, dialect: PathDialect): boolean {
  const above = parsePath(folder, dialect);
  const asked = parsePath(text, dialect);
  if ('refused' in above || 'refused' in asked) return false;
  const separator = dialect === 'windows' ? '\\' : '/';
  const beginning = above.key.endsWith(separator) ? above.key : above.key + separator;
  return asked.key.startsWith(beginning) && asked.key.length > beginning.length;
}

import { quoteText } from '@wins/base';
import { parsePath, type PathDialect, describePathRule } from './parsed-path.js';

/** Pattern of one argument: a text itself, or one of the forms; `after` is text in front of it, such as `--port=`. */
export type ArgumentPattern = string | ArgumentForm;

/** A form of an argument. */
export type ArgumentForm = { readonly after?: string } & (
  | { readonly integer: { readonly min: number; readonly max: number } }
  /** 1 to 65535. */
  | { readonly port: true }
  /** An absolute path below this folder, by its spelling: no `.`, `..` or what else the system would reinterpret. */
  | { readonly pathUnder: string }
  | { readonly oneOf: readonly string[] }
);

/**
 * Arguments that a client may pass: none, any, or exactly one of these lists, each from its first argument to its last.
 */
export type ArgumentRules = 'none' | 'any' | readonly (readonly ArgumentPattern[])[];

// As programs print and read them: no sign but a minus, no leading zero, nothing around it.
const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** Whether the rules allow these arguments. Pure; never throws; the work is linear in the rules and the arguments. */
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

/** Why rules can never be meant, or undefined. */
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
      return '"integer" of its "args" has a min above its max; wanted one that is not';
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

/** By whole components: `C:\etc\nginx-evil` is not under `C:\etc\nginx`. */
function isUnder(folder: string, text: string, dialect: PathDialect): boolean {
  const above = parsePath(folder, dialect);
  const asked = parsePath(text, dialect);
  if ('refused' in above || 'refused' in asked) return false;
  const separator = dialect === 'windows' ? '\\' : '/';
  const beginning = above.key.endsWith(separator) ? above.key : above.key + separator;
  return asked.key.startsWith(beginning) && asked.key.length > beginning.length;
}

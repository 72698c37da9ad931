import { escapeText, quoteText, UsageError } from '@wins/base';

/** Longest template, in characters. */
const LONGEST = 4096;
const PREFIX = 'jsonpath=';
const EACH = Symbol('each');

type Step = string | number | typeof EACH;
/** Text, or the steps to the values that replace it. */
type Part = string | readonly Step[];

const TEXT = /^"(?:[^"\\]|\\.)*"$|^'[^']*'$/;
const STEP = /\.([\w-]+)|\[(-?\d{1,9})\]|\[(?:'([^']*)'|"([^"]*)")\]|(\.\*|\[\*\])/y;

/** True for the form of an answer that names fields, as kubectl does. */
export function isJsonPath(form: unknown): form is string {
  return typeof form === 'string' && form.startsWith(PREFIX);
}

/** Checks a form. @throws UsageError */
export function assertJsonPath(form: string): void {
  partsOf(form);
}

/**
 * Fills in the template after `jsonpath=`. Several values are separated by blanks, objects and arrays are JSON, and a field that is not there is
 * empty. The text ends with a line feed, which kubectl leaves out.
 *
 * @throws UsageError for an invalid template.
 */
export function fillJsonPath(form: string, value: unknown): string {
  // The conversion turns dates into strings, as the JSON output does.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  const text = partsOf(form)
    .map((part) => (typeof part === 'string' ? part : valuesAt(plain, part).map(shown).join(' ')))
    .join('');
  return text.endsWith('\n') ? text : `${text}\n`;
}

function partsOf(form: string): readonly Part[] {
  const template = form.slice(PREFIX.length);
  if (template.length > LONGEST)
    throw new UsageError(`the template has more than ${LONGEST} characters`);
  if (template === '') throw unread('nothing');
  if (!template.includes('{')) return [stepsOf(template)];
  const parts: Part[] = [];
  for (const [found, text, expression] of template.matchAll(
    /([^{]+)|\{((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^}"'])*)\}|[^]/g,
  )) {
    if (text !== undefined) parts.push(text);
    else if (expression === undefined) throw unread(`${quoteText(found)} without its end`);
    else parts.push(partOf(expression.trim()));
  }
  return parts;
}

function partOf(expression: string): Part {
  if (!TEXT.test(expression)) return stepsOf(expression);
  if (expression.startsWith("'")) return expression.slice(1, -1);
  try {
    return JSON.parse(expression) as string;
  } catch {
    throw unread(quoteText(expression));
  }
}

function stepsOf(expression: string): readonly Step[] {
  const steps: Step[] = [];
  let at = /^[$@]/.test(expression) ? 1 : 0;
  if (at === 0 && expression === '') throw unread('"{}"');
  // `{.}` is the whole value.
  if (expression.slice(at) === '.') return steps;
  while (at < expression.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(expression);
    if (found === null) throw unread(quoteText(expression));
    const [whole, key, index, quoted, alsoQuoted, each] = found;
    steps.push(each !== undefined ? EACH : (key ?? quoted ?? alsoQuoted ?? Number(index)));
    at += whole.length;
  }
  return steps;
}

function unread(found: string): UsageError {
  const wanted = `{.key}, {['key']}, {[0]}, {[*]} or {"text"} in the template of jsonpath`;
  return new UsageError(`found ${found}; wanted ${wanted}`);
}

function valuesAt(value: unknown, steps: readonly Step[]): readonly unknown[] {
  return steps.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((each) => nextOf(each, step)),
    [value],
  );
}

function nextOf(value: unknown, step: Step): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === EACH) return Object.values(value);
  if (typeof step === 'number') {
    const index = Array.isArray(value) && step < 0 ? value.length + step : step;
    return Array.isArray(value) && index in value ? [value[index]] : [];
  }
  return Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
}

function shown(value: unknown): string {
  return escapeText(typeof value === 'string' ? value : JSON.stringify(value));
}

import { quoteText } from '../text/escape-text.js';
import { accessRights, canonicalSid } from './security-descriptor-words.js';
import { TextError } from '../text/text-error.js';

/** One entry of an access control list, as SDDL writes it. */
export interface AccessEntry {
  /** `A` allows, `D` denies. Other types, such as `XA`, depend on a condition or an object. */
  readonly type: string;
  /** Inheritance flags, such as `OI` and `IO`, sorted. */
  readonly flags: readonly string[];
  /** The access mask. Each generic right is replaced by specific rights. */
  readonly rights: number;
  /** A SID, or an alias that only the host can resolve, such as `DA`. */
  readonly sid: string;
}

/** A security descriptor without its audit part. */
export interface SecurityDescriptor {
  /** A SID or an alias; undefined when the descriptor names none. */
  readonly owner: string | undefined;
  readonly group: string | undefined;
  /** True when the object does not inherit entries of its folder. */
  readonly isProtected: boolean;
  /** Undefined: everyone has full access. Empty: no one has access. */
  readonly entries: readonly AccessEntry[] | undefined;
  /** Whether there is an audit part (`S:`), which this library ignores. */
  readonly hasAudit: boolean;
}

const MAX_CHARACTERS = 65_536;
const NO_LIST = 'NO_ACCESS_CONTROL';

/**
 * Parses the SDDL of a file, folder or pipe, at most 65,536 characters.
 *
 * @throws TextError for text that is not SDDL or has an unknown part.
 */
export function parseSecurityDescriptor(sddl: string): SecurityDescriptor {
  const bad = (found: string): TextError => {
    const shown = quoteText(sddl, { maxLength: 300 });
    const message = `cannot read the security descriptor ${shown}: ${found}; wanted SDDL such as D:P(A;;GA;;;BA)`;
    return new TextError('invalidDescriptor', message, found);
  };
  if (sddl.length > MAX_CHARACTERS) throw bad(`it has ${sddl.length} characters`);
  const parts = splitParts(sddl);
  if (parts === undefined) throw bad('its parts must be O:, G:, D: and S:, each at most once');
  const list = parts.get('D');
  const [flagText = '', entries] = list === undefined ? [] : splitEntries(list);
  if (entries?.isBalanced === false) throw bad('a parenthesis is missing');
  if (!/^(?:P|AR|AI|NO_ACCESS_CONTROL)*$/.test(flagText))
    throw bad(`"${flagText}" is not a list of flags`);
  const hasList = list !== undefined && !flagText.includes(NO_LIST);
  if (!hasList && (entries?.texts.length ?? 0) > 0) throw bad(`it has ${NO_LIST} and entries`);
  return {
    owner: readSid(parts.get('O'), bad),
    group: readSid(parts.get('G'), bad),
    isProtected: flagText.includes('P'),
    entries: hasList ? entries?.texts.map((text) => parseEntry(text, bad)) : undefined,
    hasAudit: parts.has('S'),
  };
}

/**
 * Whether two descriptors give the same accounts the same rights. The order of entries matters only between allow and deny
 * entries. Ignores owner, group and protection.
 */
export function grantsTheSame(a: SecurityDescriptor, b: SecurityDescriptor): boolean {
  return canonicalList(a) === canonicalList(b);
}

function canonicalList({ entries }: SecurityDescriptor): string {
  const runs: { type: string; texts: string[] }[] = [];
  for (const { type, flags, rights, sid } of entries ?? []) {
    const text = `${flags.join('')};${rights};${sid}`;
    const run = runs.at(-1);
    if (run?.type === type) run.texts.push(text);
    else runs.push({ type, texts: [text] });
  }
  for (const { texts } of runs) texts.sort();
  return JSON.stringify([entries !== undefined, runs]);
}

/** Splits `O:…G:…D:…S:…`. Other colons occur only in conditions, which are in parentheses. */
function splitParts(sddl: string): ReadonlyMap<string, string> | undefined {
  const parts = new Map<string, string>();
  let letter: string | undefined;
  let start = 0;
  let depth = 0;
  const end = (at: number): boolean => {
    if (letter === undefined) return at === 0;
    if (parts.has(letter)) return false;
    parts.set(letter, sddl.slice(start, at));
    return true;
  };
  for (let at = 0; at < sddl.length; at += 1) {
    const sign = sddl.charAt(at);
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth !== 0 || sddl.charAt(at + 1) !== ':') continue;
    if (!'OGDS'.includes(sign) || !end(at)) return undefined;
    letter = sign;
    start = at + 2;
    at += 1;
  }
  return end(sddl.length) ? parts : undefined;
}

/** Returns the flags before the entries, and the content of each outermost pair of parentheses. */
function splitEntries(list: string): [string, { texts: string[]; isBalanced: boolean }] {
  const texts: string[] = [];
  const first = list.indexOf('(');
  if (first === -1) return [list, { texts, isBalanced: !list.includes(')') }];
  let depth = 0;
  let start = first;
  for (let at = first; at < list.length; at += 1) {
    const sign = list.charAt(at);
    if (sign === '(' && (depth += 1) === 1) start = at + 1;
    else if (depth === 0) return ['', { texts, isBalanced: false }];
    else if (sign === ')' && (depth -= 1) === 0) texts.push(list.slice(start, at));
  }
  return [list.slice(0, first), { texts, isBalanced: depth === 0 }];
}

type Complain = (found: string) => TextError;

function parseEntry(text: string, bad: Complain): AccessEntry {
  const [type = '', flags = '', rights = '', , , sid = ''] = text.split(';').map((s) => s.trim());
  if (!/^(?:A|D|OA|OD|XA|XD|ZA)$/.test(type))
    throw bad(`"${type}" in (${text}) is not an access type`);
  if (!/^(?:OI|CI|NP|IO|ID)*$/.test(flags))
    throw bad(`"${flags}" in (${text}) is not a list of flags`);
  const mask = accessRights(rights);
  if (mask === undefined) throw bad(`"${rights}" in (${text}) is not a list of rights`);
  const account = readSid(sid, bad);
  if (account === undefined) throw bad(`(${text}) names no account`);
  return { type, flags: (flags.match(/../g) ?? []).sort(), rights: mask, sid: account };
}

function readSid(text: string | undefined, bad: Complain): string | undefined {
  if (text === undefined) return undefined;
  const sid = canonicalSid(text.trim());
  if (sid === undefined) throw bad(`"${text}" is not an account`);
  return sid;
}

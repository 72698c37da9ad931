import { decodeText, WANTED_TEXT, withoutMark, type DecodedText } from '@wins/trusted-files';
import { contentError, fileError, type ConfigError } from '../config-error.js';
import {
  locationIn,
  MAX_PROBLEMS,
  ProblemReport,
  type Finding,
} from '../problems/problem-report.js';
import { escapeText } from '@wins/base';
import {
  isAlias,
  isNode,
  parseYaml,
  visit,
  type Alias,
  type Document,
  type Node,
} from '@wins/net/yaml';
import { quote, SHOWN_CHARACTERS } from '../problems/config-problem.js';

/** Limit of the file size, checked before parsing. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** @throws ConfigError `tooLarge` above 1 MiB; `invalid` for bytes that are not text. */
export function decodeConfig(source: string | Uint8Array, file: string): DecodedText {
  const sizeBytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (sizeBytes > MAX_CONFIG_BYTES) throw tooLarge(file, `${sizeBytes} bytes`);
  if (typeof source === 'string') return { encoding: 'utf-8', ...withoutMark(source) };
  const decoded = decodeText(source);
  if ('text' in decoded) return decoded;
  throw contentError({
    code: 'notUtf8',
    file,
    keyPath: '',
    expected: WANTED_TEXT,
    ...locationIn(decoded.before, decoded.before.length),
    found: decoded.undecodable,
  });
}

export function tooLarge(file: string, found: string): ConfigError {
  return fileError('tooLarge', file, found, `at most ${MAX_CONFIG_BYTES} bytes`);
}

/** A normal file needs five levels. */
export const MAX_DEPTH = 32;

/** A well-formed YAML text. */
export interface YamlSource extends DecodedText {
  readonly report: ProblemReport;
  /** Null for a text without content. */
  readonly root: Node | null;
  /** Returns undefined if no anchor of that name precedes the alias. */
  resolve(alias: Alias): Node | undefined;
}

/**
 * Parses YAML 1.2 (so also JSON), with the line ends of YAML 1.1. Does not interpret scalars. Limits: 1 MiB, {@link MAX_DEPTH}
 * levels, one document; empty documents may follow.
 *
 * @throws ConfigError `tooLarge`, or `invalid` with every fault of the structure.
 */
export function readSource(source: string | Uint8Array, file: string): YamlSource {
  const decoded = decodeConfig(source, file);
  const { text } = decoded;
  const report = new ProblemReport(file, text);
  refuseControlCharacters(text, report);
  const root = rootOf(text, report);
  const targets = root === null ? new Map<Alias, Node>() : findTargets(root);
  return { ...decoded, report, root, resolve: (alias) => targets.get(alias) };
}

function refuseControlCharacters(text: string, report: ProblemReport): void {
  // oxlint-disable-next-line no-control-regex -- the search finds them
  for (const match of text.matchAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g)) {
    const [found, expected] = [quote(match[0]), 'printable text'];
    report.error({ code: 'controlCharacter', offset: match.index, found, expected });
  }
  report.throwIfBroken();
}

function rootOf(text: string, report: ProblemReport): Node | null {
  const parsed = parseYaml(text, {
    maxDepth: MAX_DEPTH,
    // Further faults would not be reported.
    maxFaults: MAX_PROBLEMS,
    schema: 'failsafe',
    // Each key would be compared with every other. `readFileValues` finds duplicates faster.
    uniqueKeys: false,
    keepSourceTokens: true,
  });
  if ('exceeds' in parsed) {
    const [found, expected] = [`more than ${MAX_DEPTH} levels`, `at most ${MAX_DEPTH} levels`];
    report.error({ code: 'tooDeep', offset: parsed.offset, found, expected });
    report.throwIfBroken();
    return null;
  }
  // Allows empty documents, because templates and "cat" leave one after the last "---".
  const [, ...others] = parsed.tokens.filter((token) => token.type === 'document');
  const second = others.find(({ value }) => value !== undefined);
  if (second !== undefined) {
    const [found, expected] = ['a second document', 'one document'];
    report.error({ code: 'multipleDocuments', offset: second.offset, found, expected });
    report.throwIfBroken();
  }
  const [document] = parsed.documents;
  reportFaults(document, text, report);
  report.throwIfBroken();
  return document.contents;
}

function reportFaults({ errors, warnings }: Document, text: string, report: ProblemReport): void {
  const escapes = errors.filter(({ code }) => code === 'BAD_DQ_ESCAPE');
  reportEscapes(escapes, text, report);
  for (const error of errors) {
    const { code, pos } = error;
    if (code === 'BAD_DQ_ESCAPE') continue;
    const found = `text that is neither YAML nor JSON (${reasonOf(error)})`;
    const offset = Math.min(pos[0], text.length);
    report.error({ code: 'syntax', offset, found, expected: 'YAML or JSON' });
  }
  for (const warning of warnings) {
    const found = `YAML beyond plain values (${reasonOf(warning)})`;
    const offset = Math.min(warning.pos[0], text.length);
    report.error({ code: 'unsupported', offset, found, expected: 'a value without a tag' });
  }
}

/** Leaves out all that the parser quotes from the file, because it may be a secret: tags and directives, and otherwise the text after a colon. */
function reasonOf({ code, message }: Document['errors' | 'warnings'][number]): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'Unresolved tag';
  if (code === 'BAD_DIRECTIVE') return 'Unknown directive';
  return message.replace(/(?<=\w): [^]*$/, '');
}

/** How much of a line to search for quotes around an escape. The search is quadratic. */
const LONGEST_LINE = 2048;

const WINDOWS_PATH = /^"(?:[A-Za-z]:|\\)/;

/** Reports invalid escapes, at most one for each line of the config, because one path may contain many backslashes. Shows no other text than a path, because it may be a secret. */
function reportEscapes(
  errors: readonly { readonly pos: readonly [number, number] }[],
  text: string,
  report: ProblemReport,
): void {
  const told = new Set<number>();
  for (const { pos } of errors) {
    const offset = Math.min(pos[0], text.length);
    const { line, column } = report.location(offset);
    if (told.has(line)) continue;
    told.add(line);
    const start = offset - column + 1;
    const [whole = ''] = text.slice(start, start + LONGEST_LINE).split(/\r?\n|[\r\u0085]/, 1);
    const around = [...whole.matchAll(/"(?:[^"\\]|\\.)*"/g)].find(
      ({ index, 0: quoted }) =>
        index < column && column <= index + quoted.length && WINDOWS_PATH.test(quoted),
    );
    const found = inDoubleQuotes(around?.[0] ?? text.slice(offset, offset + 2));
    report.error({ code: 'syntax', offset, expected: 'YAML or JSON', ...found });
  }
}

/** Describes the problem of a backslash in double quotes, and how to write the text instead. */
export function inDoubleQuotes(written: string): Pick<Finding, 'found' | 'nextStep'> {
  const shown = escapeText(written, { maxLength: SHOWN_CHARACTERS });
  const inner = /^"([^'"]*)"$/s.exec(written)?.[1];
  // A truncated text would be no usable example.
  const isShort = inner !== undefined && inner.length <= SHOWN_CHARACTERS;
  const example = isShort ? `: '${inner}'` : '';
  return {
    found: `${shown} in double quotes, where a backslash begins an escape`,
    nextStep: `write it in single quotes, or in none${example}`,
  };
}

/** An anchor may be redefined: an alias refers to the nearest one before it. */
function findTargets(root: Node): Map<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(root, (_key, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string') {
      anchors.set(node.anchor, node);
    }
  });
  return targets;
}

export function offsetOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}

import { decodeText, WANTED_TEXT, withoutMark, type DecodedText } from '@wins/trusted-files';
import { contentError, fileError, type ConfigError } from '../config-error.js';
import {
  placeIn,
  withLineFeeds,
  MAX_PROBLEMS,
  ProblemReport,
  type Finding,
} from '../problems/problem-report.js';
import { escapeText } from '@wins/base';
import {
  type Alias,
  type CST,
  Composer,
  type Document,
  isAlias,
  isNode,
  Lexer,
  type Node,
  Parser,
  visit,
} from 'yaml';
import { quote, SHOWN_CHARACTERS } from '../problems/config-problem.js';

/** The largest configuration file, in bytes; a larger one is refused before it is parsed. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Turns the bytes of a configuration file into text.
 *
 * @throws ConfigError `tooLarge` above 1 MiB; `invalid` when the bytes are no text.
 */
export function decodeConfig(source: string | Uint8Array, file: string): DecodedText {
  const sizeBytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (sizeBytes > MAX_CONFIG_BYTES) throw tooLarge(file, `${sizeBytes} bytes`);
  if (typeof source === 'string') return { encoding: 'utf-8', ...withoutMark(source) };
  const decoded = decodeText(source);
  if ('text' in decoded) return decoded;
  throw contentError({
    ...{ code: 'notUtf8', file, keyPath: '', expected: WANTED_TEXT },
    ...placeIn(decoded.before, decoded.before.length),
    found: decoded.undecodable,
  });
}

export function tooLarge(file: string, found: string): ConfigError {
  return fileError('tooLarge', file, found, `at most ${MAX_CONFIG_BYTES} bytes`);
}

/** The deepest nesting that is read; a file needs five levels. */
export const MAX_DEPTH = 32;

/** A text that is well-formed YAML, and the report for whatever else is wrong with it. */
export interface YamlSource extends DecodedText {
  readonly report: ProblemReport;
  /** The root node; null for a text without content. */
  readonly root: Node | null;
  /** The node that an alias stands for; undefined when there is no such anchor before it. */
  resolve(alias: Alias): Node | undefined;
}

/**
 * Reads the structure of a text: YAML 1.2, of which JSON is a part, with the line ends of YAML 1.1. No scalar is interpreted.
 *
 * Limits: 1 MiB, {@link MAX_DEPTH} levels, one document; empty ones may follow it.
 * @throws ConfigError `tooLarge`, or `invalid` with every fault of the structure.
 */
export function readYaml(source: string | Uint8Array, file: string): YamlSource {
  const decoded = decodeConfig(source, file);
  const report = new ProblemReport(file, decoded.text);
  refuseControlCharacters(decoded.text, report);

  const text = withLineFeeds(decoded.text);
  const tokens = tokenize(text, report);
  const document = compose(tokens, text, report);
  report.throwIfBroken();

  const root: Node | null = document?.contents ?? null;
  const targets = root === null ? new Map<Alias, Node>() : findTargets(root);
  return { ...decoded, report, root, resolve: (alias) => targets.get(alias) };
}

function refuseControlCharacters(text: string, report: ProblemReport): void {
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  for (const match of text.matchAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g)) {
    const [found, expected] = [quote(match[0]), 'printable text'];
    report.error({ code: 'controlCharacter', offset: match.index, found, expected });
  }
  report.throwIfBroken();
}

/** Splits the text iteratively, so that a depth which would exhaust the stack later is seen here. */
function tokenize(text: string, report: ProblemReport): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let faults = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'error') faults++;
    }
    // More would not be told, and each would become an error object.
    if (faults > MAX_PROBLEMS) break;
    if (parser.stack.filter((token) => 'items' in token).length <= MAX_DEPTH) continue;
    const offset = Math.min(parser.offset, text.length);
    const [found, expected] = [`more than ${MAX_DEPTH} levels`, `at most ${MAX_DEPTH} levels`];
    report.error({ code: 'tooDeep', offset, found, expected });
    report.throwIfBroken();
  }
  tokens.push(...parser.end());

  // An empty one is what a template or "cat" leaves behind the last "---".
  const [, ...others] = tokens.filter((token) => token.type === 'document');
  const second = others.find(({ value }) => value !== undefined);
  if (second !== undefined) {
    const [found, expected] = ['a second document', 'one document'];
    report.error({ code: 'multipleDocuments', offset: second.offset, found, expected });
    report.throwIfBroken();
  }
  return tokens;
}

function compose(
  tokens: CST.Token[],
  text: string,
  report: ProblemReport,
): Document.Parsed | undefined {
  // Duplicate keys are judged by the reader of the keys; the library compares each with each.
  const composer = new Composer({
    schema: 'failsafe',
    uniqueKeys: false,
    keepSourceTokens: true,
    logLevel: 'silent',
  });
  const [document] = [...composer.compose(tokens, true, text.length)];
  const errors = document?.errors ?? [];
  reportEscapes(
    errors.filter(({ code }) => code === 'BAD_DQ_ESCAPE'),
    text,
    report,
  );
  for (const { code, pos, message } of errors) {
    if (code === 'BAD_DQ_ESCAPE') continue;
    const found = `text that is neither YAML nor JSON (${message})`;
    const offset = Math.min(pos[0], text.length);
    report.error({ code: 'syntax', offset, found, expected: 'YAML or JSON' });
  }
  for (const { pos, message } of document?.warnings ?? []) {
    const found = `YAML beyond plain values (${message})`;
    const offset = Math.min(pos[0], text.length);
    report.error({ code: 'unsupported', offset, found, expected: 'a value without a tag' });
  }
  return document;
}

/** Limit of the characters of a line that are searched for the quotes around an escape: the time of the search grows with their square. */
const LONGEST_LINE = 2048;

/** One problem for each line: a path has as many backslashes as it has folders. */
function reportEscapes(
  errors: readonly { readonly pos: readonly [number, number] }[],
  text: string,
  report: ProblemReport,
): void {
  const told = new Set<number>();
  for (const { pos } of errors) {
    const offset = Math.min(pos[0], text.length);
    const { line, column } = report.place(offset);
    if (told.has(line)) continue;
    told.add(line);
    const start = offset - column + 1;
    const [whole = ''] = text.slice(start, start + LONGEST_LINE).split('\n', 1);
    const around = [...whole.matchAll(/"(?:[^"\\]|\\.)*"/g)].find(
      ({ index, 0: quoted }) => index < column && column <= index + quoted.length,
    );
    const found = inDoubleQuotes(around?.[0] ?? text.slice(offset, offset + 2));
    report.error({ code: 'syntax', offset, expected: 'YAML or JSON', ...found });
  }
}

/** Describes a text in double quotes with a backslash in it, and how to write it. */
export function inDoubleQuotes(written: string): Pick<Finding, 'found' | 'nextStep'> {
  const shown = escapeText(written, { maxLength: SHOWN_CHARACTERS });
  const inner = /^"([^'"]*)"$/s.exec(written)?.[1];
  // Cut, it would be no example.
  const isShort = inner !== undefined && inner.length <= SHOWN_CHARACTERS;
  const example = isShort ? `: '${inner}'` : '';
  return {
    found: `${shown} in double quotes, where a backslash begins an escape`,
    nextStep: `write it in single quotes, or in none${example}`,
  };
}

/** Anchors may be set anew; an alias means the one before it. One pass for all of them. */
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

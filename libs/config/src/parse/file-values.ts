// This file is long, because its methods for keys, scalars, lists and aliases call each other and share the counters.
import { hasInvisible } from '@wins/base';
import { isDeepStrictEqual } from 'node:util';
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from '@wins/net/yaml';
import * as z from 'zod/mini';
import {
  bareSchema,
  entryOf,
  fieldsOf,
  joinKey,
  keysBelow,
  notationOf,
  noted,
} from '../schema/notation.js';
import { quote } from '../problems/config-problem.js';
import {
  foldKey,
  isFoundByGo,
  nearestKey,
  writingThatCounts,
  type KeyWriting,
} from './key-spelling.js';
import { describe, describeSecret, isNothing, scalarValue, typedScalar } from './scalar-value.js';
import { MAX_DEPTH, offsetOf, type YamlSource } from './yaml-source.js';

/** Limit of visited values. A value behind an alias counts once per use. */
export const MAX_VALUES = 100_000;

export interface ValueLocation {
  readonly offset: number | undefined;
  readonly found: string;
  /** The text as written, if an escape in double quotes made an invisible character. */
  readonly misread?: string;
}

export interface FileValues {
  readonly value: unknown;
  /** By canonical key path: `white_list.proxyPorts[0]`. */
  readonly locations: ReadonlyMap<string, ValueLocation>;
}

/**
 * Reads values by a schema: finds keys in any spelling, and converts scalars. Reports problems of keys. Leaves values of a
 * wrong type to the schema, which refuses them.
 */
export function readFileValues(
  source: YamlSource,
  schema: z.core.$ZodType,
  strict: boolean,
): FileValues {
  return new FileReader(source, schema, strict).read();
}

interface Level {
  readonly fields: ReadonlyMap<string, z.core.$ZodType>;
  readonly strictKeys: boolean;
  readonly path: string;
}

type Entry = Pair<Node, Node | null>;

/** A known key, as written. */
interface Writing extends KeyWriting {
  readonly pair: Entry;
}

const SECRET = noted(z.unknown(), { asWritten: 'text', isSecret: true });
const TEXT = noted(z.unknown(), { asWritten: 'text' });
const TYPED = noted(z.unknown(), { asWritten: 'typed' });

class FileReader {
  readonly #source: YamlSource;
  readonly #schema: z.core.$ZodType;
  readonly #strict: boolean;
  readonly #locations = new Map<string, ValueLocation>();
  #visited = 0;
  #depth = 0;

  constructor(source: YamlSource, schema: z.core.$ZodType, strict: boolean) {
    this.#source = source;
    this.#schema = schema;
    this.#strict = strict;
  }

  read(): FileValues {
    const { root } = this.#source;
    const value = isNothing(root) ? {} : this.#value(root, this.#schema, '');
    return { value, locations: this.#locations };
  }

  #value(written: Node | null, schema: z.core.$ZodType, path: string): unknown {
    return this.#within(written, () => this.#valueHere(written, schema, path));
  }

  /** Limits depth and number of values, because an anchor may contain an alias to itself, and aliases can multiply values. */
  #within<Value>(written: Node | null, read: () => Value): Value {
    const offset = offsetOf(written);
    const refuse = (code: 'tooDeep' | 'tooManyValues', most: string): void => {
      const { report } = this.#source;
      report.error({ code, offset, found: `more than ${most}`, expected: `at most ${most}` });
      report.throwIfBroken();
    };
    if (this.#depth > MAX_DEPTH) refuse('tooDeep', `${MAX_DEPTH} levels`);
    if (++this.#visited > MAX_VALUES) refuse('tooManyValues', `${MAX_VALUES} values`);
    this.#depth += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #valueHere(written: Node | null, schema: z.core.$ZodType, path: string): unknown {
    const { report } = this.#source;
    const offset = offsetOf(written);
    const node = this.#resolved(written);
    const { shorthand, strictKeys = false, asWritten, isSecret } = notationOf(bareSchema(schema));
    if (isAlias(written) && node === null) {
      const name = isSecret === true ? '' : ` ${quote(written.source)}`;
      const found = `an alias to the unknown anchor${name}`;
      report.error({ code: 'unsupported', keyPath: path, offset, found, expected: 'a value' });
    }
    if (isSecret === true) this.#locations.set(path, { offset, found: describeSecret(node) });
    else this.#locations.set(path, { offset, found: describe(node), ...this.#misread(node) });
    if (isNothing(node)) return null;

    if (asWritten) {
      const within = asWritten === 'typed' ? TYPED : isSecret === true ? SECRET : TEXT;
      return this.#written(node, path, within);
    }
    const fields = fieldsOf(schema);
    if (fields !== undefined) {
      if (isMap<Node, Node | null>(node))
        return this.#map(node.items, { fields, strictKeys, path });
      const field = typeof shorthand === 'string' ? fields.get(shorthand) : undefined;
      if (!isScalar(node) || field === undefined) return [];
      return { [String(shorthand)]: this.#value(node, field, joinKey(path, String(shorthand))) };
    }
    const entry = entryOf(schema);
    if (entry !== undefined) {
      if (isSeq<Node | null>(node)) return this.#items(node.items, entry, path);
      return shorthand === true && isScalar(node) ? this.#items([node], entry, path) : {};
    }
    return isScalar(node) ? scalarValue(node, bareSchema(schema)) : {};
  }

  /** Reads a value whose shape the schema does not know. */
  #written(node: Node, path: string, schema: z.core.$ZodType): unknown {
    const within = (inner: Node | null, innerPath: string): unknown =>
      this.#value(inner, schema, innerPath);
    if (isSeq<Node | null>(node))
      return node.items.map((item, index) => within(item, `${path}[${index}]`));
    if (!isMap<Node, Node | null>(node)) {
      if (!isScalar(node)) return {};
      return schema === TYPED ? typedScalar(node) : String(node.value);
    }
    // No prototype, so that `__proto__` is an ordinary name.
    const values = Object.create(null) as Record<string, unknown>;
    for (const pair of node.items) {
      const key = this.#keyText(pair, path);
      if (key === undefined) continue;
      if (Object.hasOwn(values, key)) {
        const offset = offsetOf(pair.key);
        const [found, expected] = [`${quote(key)} a second time`, 'the key once'];
        const keyPath = joinKey(path, key);
        this.#source.report.error({ code: 'twoSpellings', keyPath, offset, found, expected });
      }
      values[key] = within(pair.value, joinKey(path, key));
    }
    return values;
  }

  /** Detects the most common mistake on Windows: a path in double quotes, where a backslash begins an escape. */
  #misread(node: Node | null): Pick<ValueLocation, 'misread'> {
    if (!isScalar(node) || node.type !== 'QUOTE_DOUBLE' || !node.range) return {};
    // The line ends of a PEM text are meant.
    const value = String(node.value);
    if (!hasInvisible(value) || value.includes('-----BEGIN ')) return {};
    const written = this.#source.text.slice(node.range[0], node.range[1]);
    return written.includes('\\') ? { misread: written } : {};
  }

  #items(nodes: readonly (Node | null)[], element: z.core.$ZodType, path: string): unknown[] {
    return nodes.map((node, index) => this.#value(node, element, `${path}[${index}]`));
  }

  #map(pairs: readonly Entry[], level: Level): unknown {
    const { fields, strictKeys, path } = level;
    const spellings = new Map([...fields.keys()].map((key) => [foldKey(key), key]));
    const found = new Map<string, [Writing, ...Writing[]]>();
    for (const pair of pairs) {
      const written = this.#keyText(pair, path);
      if (written === undefined) continue;
      const key = spellings.get(foldKey(written));
      if (key === undefined) {
        this.#unknownKey(written, pair, level);
        continue;
      }
      const writing = { written, pair, isEmpty: isNothing(this.#resolved(pair.value)) };
      const earlier = found.get(key);
      if (earlier === undefined) found.set(key, [writing]);
      else earlier.push(writing);
    }
    const values: Record<string, unknown> = {};
    for (const [key, writings] of found) {
      const field = fields.get(key);
      if (field === undefined) continue;
      const { pair } = this.#writingThatCounts(key, writings, level);
      const value = this.#value(pair.value, field, joinKey(path, key));
      // A key without a value counts as absent, unless that would lift a restriction.
      const isStrict = strictKeys || notationOf(bareSchema(field)).strictKeys === true;
      if (value !== null || isStrict) values[key] = value;
      else this.#locations.delete(joinKey(path, key));
    }
    return values;
  }

  #keyText({ key }: Entry, path: string): string | undefined {
    const isMerge = isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
    if (isScalar(key) && typeof key.value === 'string' && !isMerge) return key.value;
    const found = isMerge ? 'the merge key "<<"' : `${describe(key)} as a key`;
    const [offset, expected] = [offsetOf(key), 'the keys themselves'];
    this.#source.report.error({ code: 'unsupported', keyPath: path, offset, found, expected });
    return undefined;
  }

  #writingThatCounts(key: string, writings: readonly [Writing, ...Writing[]], level: Level) {
    const { report } = this.#source;
    const keyPath = joinKey(level.path, key);
    const counts = writingThatCounts(writings, key);
    if (counts.written !== key) {
      const { written, pair } = counts;
      const [offset, expected] = [offsetOf(pair.key), quote(key)];
      report.warning({ code: 'legacySpelling', keyPath, offset, found: quote(written), expected });
    }
    for (const other of writings) if (other !== counts) this.#twin(key, other, counts, level);
    return counts;
  }

  /** Reports a repeated key. Usually one installer has appended its config to that of another. */
  #twin(key: string, twin: Writing, counts: Writing, level: Level): void {
    const { report } = this.#source;
    const [skipped, used] = [twin, counts].map(({ pair }) => this.#content(pair.value));
    const isSame = isDeepStrictEqual(skipped, used);
    const { line, column } = report.location(offsetOf(counts.pair.key) ?? 0);
    const isOtherSpelling = twin.written !== counts.written;
    const other = `${quote(counts.written)} in line ${line}, column ${column}`;
    const finding = {
      code: isOtherSpelling ? 'twoSpellings' : 'duplicateKey',
      keyPath: joinKey(level.path, key),
      offset: offsetOf(twin.pair.key),
      expected: 'the key once',
    } as const;
    const field = level.fields.get(key);
    const isList = field !== undefined && (fieldsOf(field) ?? entryOf(field)) !== undefined;
    // Two spellings with different values are an error wherever a wrong guess at the value may allow something forbidden.
    const isGuess = level.strictKeys || (isList && !isFoundByGo(counts.written, key));
    const found = `${quote(twin.written)} beside ${other}, which has`;
    if (isSame) report.warning({ ...finding, found: `${found} the same value` });
    else if (isOtherSpelling && isGuess)
      report.error({ ...finding, found: `${found} another value`, expected: 'one spelling only' });
    else report.warning({ ...finding, found: `${found} another value, which is used` });
  }

  #resolved(written: Node | null): Node | null {
    return isAlias(written) ? (this.#source.resolve(written) ?? null) : written;
  }

  /** Content for comparison, without layout and key spelling. */
  #content(written: Node | null): unknown {
    return this.#within(written, () => {
      const node = this.#resolved(written);
      if (isNothing(node)) return null;
      if (isScalar(node)) return String(node.value);
      if (isSeq<Node | null>(node)) return node.items.map((item) => this.#content(item));
      if (!isMap<Node, Node | null>(node)) return undefined;
      return new Map(
        node.items.map(({ key, value }) => [
          isScalar(key) ? foldKey(String(key.value)) : key,
          this.#content(value),
        ]),
      );
    });
  }

  #unknownKey(written: string, pair: Entry, { fields, strictKeys, path }: Level): void {
    const marked = /^\uFEFF\s*(.+)$/.exec(written)?.[1];
    if (marked !== undefined && !strictKeys) {
      // Somebody joined two files, and the second begins with a byte order mark. The Go releases ignore the key after the mark,
      // so it must have no effect now.
      this.#source.report.warning({
        code: 'noEffect',
        keyPath: joinKey(path, quote(marked).slice(1, -1)),
        offset: offsetOf(pair.key),
        found: `a byte order mark before ${quote(marked)}, so the key is ignored, as in earlier releases`,
        expected: 'a byte order mark only at the beginning of the file',
        nextStep: 'remove the mark (U+FEFF) to apply the key, or remove the key',
      });
      return;
    }
    const siblings = [...fields.keys()];
    const sibling = nearestKey(written, siblings);
    const nearest =
      sibling === undefined ? misplacedKey(written, this.#schema) : joinKey(path, sibling);
    const finding = {
      code: 'unknownKey',
      keyPath: joinKey(path, quote(written).slice(1, -1)),
      offset: offsetOf(pair.key),
      found: `the unknown key ${quote(written)}`,
      expected: nearest === undefined ? `one of ${siblings.join(', ')}` : quote(nearest),
      nearestKey: nearest,
    } as const;
    // A misspelt or misplaced key of a protection would lift it.
    const isProtection = nearest !== undefined && isStrictKey(nearest, this.#schema);
    if (this.#strict || strictKeys || isProtection) this.#source.report.error(finding);
    else this.#source.report.warning(finding);
  }
}

function isStrictKey(key: string, schema: z.core.$ZodType): boolean {
  const [, found] = [...keysBelow(schema)].find(([path]) => path === key) ?? [];
  return found !== undefined && notationOf(bareSchema(found)).strictKeys === true;
}

/** Returns the correct path of a known key that is in the wrong section. */
function misplacedKey(written: string, schema: z.core.$ZodType): string | undefined {
  const isMeant = ([path]: readonly [string, unknown]): boolean =>
    !path.includes('[]') && foldKey(path.slice(path.lastIndexOf('.') + 1)) === foldKey(written);
  return [...keysBelow(schema)].find(isMeant)?.[0];
}

import { hasInvisible } from '@wins/wins-program';
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import * as z from 'zod';
import { bareSchema, entryOf, fieldsOf, notationOf, type Notation } from '../schema/notation.js';
import { quote } from '../problems/config-problem.js';
import { foldKey, nearestKey } from './key-spelling.js';
import { describe, describeSecret, isNothing, scalarValue, typedScalar } from './scalar-value.js';
import { MAX_DEPTH, offsetOf, type YamlSource } from './yaml-source.js';

/** Values visited at most, counting those behind aliases each time they are used. */
export const MAX_VALUES = 100_000;

/** Where a value stands in the text, and what it looks like there. */
export interface ValuePlace {
  readonly offset: number | undefined;
  readonly found: string;
  /** The text as it is written, when it is in double quotes and a backslash in it made something invisible of a letter. */
  readonly misread?: string;
}

/** What a file says, in canonical spelling but not yet judged. */
export interface FileValues {
  readonly value: unknown;
  /** By canonical key path, such as `white_list.proxyPorts[0]`. */
  readonly places: ReadonlyMap<string, ValuePlace>;
}

/**
 * Reads the values that a schema asks for: finds keys in any spelling, and takes scalars as the schema means them.
 *
 * What does not fit is handed on as it is, for the schema to refuse. Problems with keys go to the report.
 */
export function readFileValues(source: YamlSource, schema: z.ZodType, strict: boolean): FileValues {
  return new FileReader(source, schema, strict).read();
}

/** A section being read: its keys, whether an unknown one is an error, and where it is. */
interface Level {
  readonly fields: ReadonlyMap<string, z.core.$ZodType>;
  readonly strictKeys: boolean;
  readonly path: string;
}

type Entry = Pair<Node, Node | null>;

const SECRET = z.unknown().meta({ asWritten: 'text', isSecret: true } satisfies Notation);
const TEXT = z.unknown().meta({ asWritten: 'text' } satisfies Notation);
const TYPED = z.unknown().meta({ asWritten: 'typed' } satisfies Notation);

class FileReader {
  readonly #source: YamlSource;
  readonly #schema: z.ZodType;
  readonly #strict: boolean;
  readonly #places = new Map<string, ValuePlace>();
  #visited = 0;
  #depth = 0;

  constructor(source: YamlSource, schema: z.ZodType, strict: boolean) {
    this.#source = source;
    this.#schema = schema;
    this.#strict = strict;
  }

  read(): FileValues {
    const { root } = this.#source;
    const value = isNothing(root) ? {} : this.#value(root, this.#schema, '');
    return { value, places: this.#places };
  }

  /** An anchor that holds an alias to itself has no bottom, and the text does not show how deep aliases lead. */
  #value(written: Node | null, schema: z.core.$ZodType, path: string): unknown {
    if (this.#depth > MAX_DEPTH) {
      const { report } = this.#source;
      const found = `more than ${MAX_DEPTH} levels`;
      const expected = `at most ${MAX_DEPTH} levels`;
      report.error({ code: 'tooDeep', offset: offsetOf(written), found, expected });
      report.throwIfBroken();
    }
    this.#depth += 1;
    const value = this.#valueHere(written, schema, path);
    this.#depth -= 1;
    return value;
  }

  #valueHere(written: Node | null, schema: z.core.$ZodType, path: string): unknown {
    const { report } = this.#source;
    const offset = offsetOf(written);
    if (++this.#visited > MAX_VALUES) {
      const expected = `at most ${MAX_VALUES} values`;
      report.error({
        code: 'tooManyValues',
        offset,
        found: `more than ${MAX_VALUES} values`,
        expected,
      });
      report.throwIfBroken();
    }
    const node = isAlias(written) ? (this.#source.resolve(written) ?? null) : written;
    if (isAlias(written) && node === null) {
      const found = `an alias to the unknown anchor ${quote(written.source)}`;
      report.error({ code: 'unsupported', keyPath: path, offset, found, expected: 'a value' });
    }
    const { shorthand, strictKeys = false, asWritten, isSecret } = notationOf(bareSchema(schema));
    if (isSecret === true) this.#places.set(path, { offset, found: describeSecret(node) });
    else this.#places.set(path, { offset, found: describe(node), ...this.#misread(node) });
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
      return { [String(shorthand)]: this.#value(node, field, join(path, String(shorthand))) };
    }
    const entry = entryOf(schema);
    if (entry !== undefined) {
      if (isSeq<Node | null>(node)) return this.#items(node.items, entry, path);
      return shorthand === true && isScalar(node) ? this.#items([node], entry, path) : {};
    }
    return isScalar(node) ? scalarValue(node, bareSchema(schema)) : {};
  }

  /** A value of which the schema does not tell the shape before it is read. */
  #written(node: Node, path: string, schema: z.core.$ZodType): unknown {
    const within = (inner: Node | null, innerPath: string): unknown =>
      this.#value(inner, schema, innerPath);
    if (isSeq<Node | null>(node))
      return node.items.map((item, index) => within(item, `${path}[${index}]`));
    if (!isMap<Node, Node | null>(node)) {
      if (!isScalar(node)) return {};
      return schema === TYPED ? typedScalar(node) : String(node.value);
    }
    // No prototype: a name such as __proto__ is a name like any other.
    const values = Object.create(null) as Record<string, unknown>;
    for (const pair of node.items) {
      const key = this.#keyText(pair, path);
      if (key === undefined) continue;
      if (Object.hasOwn(values, key)) {
        const { report } = this.#source;
        const keyPath = join(path, key);
        const found = `${quote(key)} a second time`;
        const expected = 'the key once';
        report.error({
          code: 'twoSpellings',
          keyPath,
          offset: offsetOf(pair.key),
          found,
          expected,
        });
      }
      values[key] = within(pair.value, join(path, key));
    }
    return values;
  }

  /** The commonest slip on Windows: a path in double quotes, where a backslash begins an escape. */
  #misread(node: Node | null): Pick<ValuePlace, 'misread'> {
    if (!isScalar(node) || node.type !== 'QUOTE_DOUBLE' || !node.range) return {};
    if (!hasInvisible(String(node.value))) return {};
    const written = this.#source.text.slice(node.range[0], node.range[1]);
    return written.includes('\\') ? { misread: written } : {};
  }

  #items(nodes: readonly (Node | null)[], element: z.core.$ZodType, path: string): unknown[] {
    return nodes.map((node, index) => this.#value(node, element, `${path}[${index}]`));
  }

  #map(pairs: readonly Entry[], level: Level): unknown {
    const { fields, strictKeys, path } = level;
    const spellings = new Map([...fields.keys()].map((key) => [foldKey(key), key]));
    const chosen = new Map<string, Entry>();
    for (const pair of pairs) {
      const written = this.#keyText(pair, path);
      if (written === undefined) continue;
      const key = spellings.get(foldKey(written));
      if (key === undefined) {
        this.#unknownKey(written, pair, level);
      } else {
        this.#knownKey(written, key, pair, level, chosen.get(key));
        chosen.set(key, pair);
      }
    }
    const values: Record<string, unknown> = {};
    for (const [key, pair] of chosen) {
      const field = fields.get(key);
      if (field === undefined) continue;
      const value = this.#value(pair.value, field, join(path, key));
      // A key without a value is as good as no key, but not where it would undo a restriction.
      if (value !== null || strictKeys) values[key] = value;
      else this.#places.delete(join(path, key));
    }
    return values;
  }

  #keyText({ key }: Entry, path: string): string | undefined {
    const isMerge = isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
    if (isScalar(key) && typeof key.value === 'string' && !isMerge) return key.value;
    this.#source.report.error({
      code: 'unsupported',
      keyPath: path,
      offset: offsetOf(key),
      found: isMerge ? 'the merge key "<<"' : `${describe(key)} as a key`,
      expected: 'the keys themselves',
    });
    return undefined;
  }

  #knownKey(written: string, key: string, pair: Entry, level: Level, earlier?: Entry): void {
    const { report } = this.#source;
    const keyPath = join(level.path, key);
    const offset = offsetOf(pair.key);
    if (written !== key) {
      const expected = quote(key);
      report.warning({ code: 'legacySpelling', keyPath, offset, found: quote(written), expected });
    }
    if (earlier === undefined) return;
    const other = isScalar(earlier.key) ? String(earlier.key.value) : key;
    const { line } = report.place(offsetOf(earlier.key) ?? 0);
    const found = `${quote(written)} after ${quote(other)} in line ${line}`;
    const finding = { keyPath, offset, found };
    // Which of two lists was meant is a guess, and a wrong one may allow what was to be forbidden.
    const field = level.fields.get(key);
    const guesswork = field !== undefined && (fieldsOf(field) ?? entryOf(field)) !== undefined;
    if (other !== written && guesswork)
      report.error({ code: 'twoSpellings', ...finding, expected: 'one spelling only' });
    else
      report.warning({
        code: 'duplicateKey',
        ...finding,
        expected: 'the key once (the last counts)',
      });
  }

  #unknownKey(written: string, pair: Entry, { fields, strictKeys, path }: Level): void {
    const siblings = [...fields.keys()];
    const sibling = nearestKey(written, siblings);
    const nearest =
      sibling === undefined ? misplacedKey(written, this.#schema) : join(path, sibling);
    const finding = {
      code: 'unknownKey',
      keyPath: join(path, quote(written).slice(1, -1)),
      offset: offsetOf(pair.key),
      found: `the unknown key ${quote(written)}`,
      expected: nearest === undefined ? `one of ${siblings.join(', ')}` : quote(nearest),
      nearestKey: nearest,
    } as const;
    if (this.#strict || strictKeys) this.#source.report.error(finding);
    else this.#source.report.warning(finding);
  }
}

/** A key that is right but stands in the wrong section. */
function misplacedKey(written: string, schema: z.core.$ZodType, path = ''): string | undefined {
  for (const [key, field] of fieldsOf(schema) ?? []) {
    if (foldKey(key) === foldKey(written)) return join(path, key);
    const inside = misplacedKey(written, field, join(path, key));
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

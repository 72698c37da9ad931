// This file is long because it does one job that is hard to split: it finds where to set a key in any YAML notation.
import type { Optional } from '@wins/base';
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from '@wins/net/yaml';
import { contentError, type ConfigError } from '../config-error.js';
import { type EntryExtent, entryExtents } from './entry-extent.js';
import { isNothing } from '../parse/scalar-value.js';
import { foldKey, writingThatCounts } from '../parse/key-spelling.js';
import { firstLineEnd, lineStarts, nextLineStart, locationIn } from '../problems/problem-report.js';
import type { AllowedPath } from '../gen/wins-config.js';
import { readSource } from '../parse/yaml-source.js';

/** A new value for one key. A list replaces the whole list of the file. */
export type EditValue = boolean | number | string | readonly EditItem[];

/** An element of a list, such as a port number, a variable name or an entry of `white_list.processPaths`. */
export type EditItem =
  | number
  | string
  | (Pick<AllowedPath, 'path'> &
      Optional<Omit<AllowedPath, 'path' | 'envs'>> & {
        readonly envs?: readonly string[] | undefined;
      });

type Section = YAMLMap<Node, Node | null>;
type List = YAMLSeq<Node | null>;

/**
 * Sets the key at a path (`key` or `section.key`), or removes it (null). Other lines stay as they are. `current` is the parsed
 * list at the path; its unchanged entries stay too.
 *
 * @throws ConfigError `invalid` for text that is not YAML, or a key in a form that cannot be edited.
 */
export function changeText(
  source: string,
  path: string,
  value: EditValue | null,
  current: readonly EditItem[],
  file: string,
): string {
  return edited(source, path, file, (editor, top) => {
    const [first = path, second] = path.split('.');
    if (second === undefined) {
      editor.set(top, first, value, current);
    } else {
      const section = editor.pairs(top, first).at(-1)?.value ?? null;
      if (isMap(section)) editor.set(section as Section, second, value, current);
      else if (!isNothing(section)) throw editor.refusal();
      else if (value !== null) editor.put(top, first, { [second]: value });
    }
  });
}

/** Sets a top-level key, in any spelling, to a JSON value. @throws ConfigError `invalid` as {@link changeText}. */
export function putTopKey(source: string, key: string, content: unknown, file: string): string {
  return edited(source, key, file, (editor, top) => editor.replace(top, key, content));
}

function edited(
  source: string,
  keyPath: string,
  file: string,
  edit: (editor: TextEditor, top: Section | null) => void,
): string {
  const { mark, text, root } = readSource(source, file);
  const editor = new TextEditor(text, () =>
    contentError({
      code: 'unsupported',
      file,
      keyPath,
      found: 'a notation that cannot be changed in place',
      expected: 'plain "key: value" lines, or JSON',
    }),
  );
  if (!isNothing(root) && !isMap(root)) throw editor.refusal();
  edit(editor, isNothing(root) ? null : (root as Section));
  return mark + editor.finish();
}

class TextEditor {
  readonly #text: string;
  readonly #lineEnd: string;
  readonly #lineStarts: readonly number[];
  readonly #splices: { readonly start: number; readonly end: number; readonly insert: string }[] =
    [];

  constructor(
    text: string,
    readonly refusal: () => ConfigError,
  ) {
    this.#text = text;
    this.#lineEnd = firstLineEnd(text) ?? '\n';
    this.#lineStarts = lineStarts(text);
  }

  /** Returns all pairs of a key, in any spelling. The effective pair comes last, wherever it is in the file. */
  pairs(map: Section | null, key: string): Pair<Node, Node | null>[] {
    const [first, ...others] = (map?.items ?? []).flatMap((pair) => {
      const written = isScalar(pair.key) ? String(pair.key.value) : '';
      return foldKey(written) === foldKey(key)
        ? [{ pair, written, isEmpty: isNothing(pair.value) }]
        : [];
    });
    if (first === undefined) return [];
    const counts = writingThatCounts([first, ...others], key);
    const rest = [first, ...others].filter((each) => each !== counts);
    return [...rest, counts].map(({ pair }) => pair);
  }

  set(map: Section | null, key: string, value: EditValue | null, current: readonly EditItem[]) {
    const pairs = this.pairs(map, key);
    const list = pairs.at(-1)?.value ?? null;
    if (map === null || value === null) {
      if (value !== null) this.put(map, key, value);
      else if (map !== null)
        this.#remove(map, (index) => pairs.some((each) => each === map.items[index]));
    } else if (isSeq(list) && Array.isArray(value)) {
      this.#setList(map, list as List, current, value as readonly EditItem[]);
    } else {
      this.put(map, key, value);
    }
  }

  /** Like {@link put}, but keeps only the effective pair of a repeated key. */
  replace(map: Section | null, key: string, content: unknown): void {
    const earlier = this.pairs(map, key).slice(0, -1);
    if (map !== null && earlier.length > 0)
      this.#remove(map, (index) => earlier.some((each) => each === map.items[index]));
    this.put(map, key, content);
  }

  put(map: Section | null, key: string, content: unknown): void {
    const pair = this.pairs(map, key).at(-1);
    if (map === null || pair === undefined) {
      this.#append(map, [flowPair(key, content)], blockPair(key, content));
      return;
    }
    const { colonEnd } = this.#extent(map, map.items.indexOf(pair));
    const [start, end] = pair.value?.range ?? [];
    if (colonEnd === undefined || start === undefined || end === undefined) throw this.refusal();
    const [, ...lines] = blockPair(key, content);
    if (!isNothing(pair.value) || start !== end) {
      const tail = this.#isLineStart(end) ? this.#lineEnd : '';
      this.#splice(start, end, flowValue(content) + tail);
    } else if (map.flow === true || lines.length === 0) {
      this.#splice(colonEnd, colonEnd, ` ${flowValue(content)}`);
    } else {
      this.#insertLines(this.#nextLine(colonEnd), this.#indentOf(map), lines);
    }
  }

  finish(): string {
    // Apply the last splice first, so that earlier offsets stay valid.
    const splices = [...this.#splices].sort((a, b) => b.start - a.start);
    return splices.reduce(
      (text, { start, end, insert }) => text.slice(0, start) + insert + text.slice(end),
      this.#text,
    );
  }

  /** Keeps each current entry that equals the next wanted entry. Removes the others, then appends the wanted entries still missing. */
  #setList(map: Section, list: List, current: readonly EditItem[], wanted: readonly EditItem[]) {
    const kept = new Set<number>();
    for (const [index, item] of current.entries()) {
      const next = wanted[kept.size];
      if (next !== undefined && identity(item) === identity(next)) kept.add(index);
    }
    const added = wanted.slice(kept.size);
    if (kept.size === 0 && list.flow === true) {
      this.#replaceFlow(list, `[${added.map(flowValue).join(', ')}]`);
      return;
    }
    this.#remove(list, (index) => !kept.has(index));
    const values = added.map(flowValue);
    const lines = values.map((item) => `- ${item}`);
    if (added.length > 0) this.#append(list, values, lines);
    if (wanted.length > 0) return;
    const index = map.items.findLastIndex((pair) => pair.value === list);
    const { colonEnd } = this.#extent(map, index);
    if (colonEnd === undefined) throw this.refusal();
    this.#splice(colonEnd, colonEnd, ' []');
  }

  #remove(collection: Section | List, isUnwanted: (index: number) => boolean): void {
    const extents = this.#extents(collection);
    const firstKept = extents.findIndex((_, index) => !isUnwanted(index));
    if (collection.flow === true && firstKept === -1) {
      if (extents.length > 0) this.#replaceFlow(collection, isSeq(collection) ? '[]' : '{}');
      return;
    }
    for (const [index, { start, end }] of extents.entries()) {
      if (!isUnwanted(index)) continue;
      if (collection.flow !== true) this.#splice(this.#ownLine(start), this.#nextLine(end), '');
      else if (index < firstKept) this.#splice(start, extents[index + 1]?.start ?? end, '');
      else this.#splice(extents[index - 1]?.end ?? start, end, '');
    }
  }

  #append(collection: Section | List | null, flow: readonly string[], block: readonly string[]) {
    if (collection === null) {
      this.#insertLines(this.#text.length, '', block);
      return;
    }
    const last = this.#extents(collection).at(-1);
    if (last === undefined) {
      const all = flow.join(', ');
      this.#replaceFlow(collection, isSeq(collection) ? `[${all}]` : `{${all}}`);
    } else if (collection.flow === true) {
      const lead = this.#text.slice(this.#lineStart(last.start), last.start);
      const separator = lead.trim() === '' ? `,${this.#lineEnd}${lead}` : ', ';
      this.#splice(last.end, last.end, flow.map((entry) => separator + entry).join(''));
    } else {
      this.#insertLines(this.#nextLine(last.end), this.#indentOf(collection), block);
    }
  }

  #replaceFlow(collection: Section | List, text: string): void {
    const [start, end] = collection.range ?? [];
    if (collection.flow !== true || start === undefined || end === undefined) throw this.refusal();
    this.#splice(start, end, text);
  }

  #insertLines(offset: number, indent: string, lines: readonly string[]): void {
    const lead = offset > 0 && !this.#isLineStart(offset) ? this.#lineEnd : '';
    const added = lines.map((line) => indent + line + this.#lineEnd).join('');
    this.#splice(offset, offset, lead + added);
  }

  #splice(start: number, end: number, insert: string): void {
    this.#splices.push({ start, end, insert });
  }

  #extents(collection: Section | List): readonly EntryExtent[] {
    const extents = entryExtents(collection);
    if (extents === undefined) throw this.refusal();
    return extents;
  }

  #extent(collection: Section | List, index: number): EntryExtent {
    const extent = this.#extents(collection)[index];
    if (extent === undefined) throw this.refusal();
    return extent;
  }

  #indentOf(collection: Section | List): string {
    const { start } = this.#extent(collection, 0);
    return this.#text.slice(this.#ownLine(start), start);
  }

  /** Returns the start of the line of an entry at `offset`. Throws unless only blanks precede the entry on that line. */
  #ownLine(offset: number): number {
    const start = this.#lineStart(offset);
    if (this.#text.slice(start, offset).trim() !== '') throw this.refusal();
    return start;
  }

  #lineStart(offset: number): number {
    return offset - locationIn(this.#text, offset, this.#lineStarts).column + 1;
  }

  #isLineStart(offset: number): boolean {
    return this.#lineStart(offset) === offset;
  }

  /** Returns `offset` if a line starts there (after a block scalar), otherwise the start of the next line. */
  #nextLine(offset: number): number {
    return offset > 0 && this.#isLineStart(offset) ? offset : nextLineStart(this.#text, offset);
  }
}

/** Defaults of the keys that an entry omits. */
const WITHOUT = {
  sha256: [],
  envs: [],
  args: 'any',
  directories: [],
  for: [],
  mayBreakAway: false,
  argv0: 'copy',
};

function identity(item: EditItem): string {
  if (typeof item === 'number') return String(item);
  return JSON.stringify({ ...WITHOUT, ...(typeof item === 'string' ? { path: item } : item) });
}

/** JSON, which is also valid YAML. */
function flowValue(content: unknown): string {
  if (typeof content !== 'object' || content === null) return JSON.stringify(content);
  if (Array.isArray(content)) return `[${content.map(flowValue).join(', ')}]`;
  const pairs = Object.entries(content).map(([key, value]) => flowPair(key, value));
  return `{${pairs.join(', ')}}`;
}

function flowPair(key: string, content: unknown): string {
  return `${JSON.stringify(key)}: ${flowValue(content)}`;
}

/** Returns lines of YAML; the first contains the key. */
function blockPair(key: string, content: unknown): string[] {
  const name = plainKey(key);
  if (typeof content !== 'object' || content === null || Object.keys(content).length === 0)
    return [`${name}: ${flowValue(content)}`];
  const lines = Array.isArray(content)
    ? content.map((item) => `- ${flowValue(item)}`)
    : Object.entries(content).flatMap(([inner, value]) => blockPair(inner, value));
  return [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

/** Quotes a key where needed, because older YAML parsers read words such as `yes` as values. */
function plainKey(key: string): string {
  const isPlain =
    /^[A-Za-z][\w-]*$/.test(key) && !/^(?:y|yes|n|no|on|off|true|false|null)$/i.test(key);
  return isPlain ? key : JSON.stringify(key);
}

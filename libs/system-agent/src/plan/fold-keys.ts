/** What may stand at a place of a JSON text, as far as its keys matter. */
export type KeyShape =
  | { readonly kind: 'value' }
  | { readonly kind: 'list'; readonly of: KeyShape }
  | { readonly kind: 'map'; readonly of: KeyShape }
  | { readonly kind: 'struct'; readonly keys: Readonly<Record<string, KeyShape>> };

export interface FoldedKeys {
  readonly value: unknown;
  /** Paths of keys that the shape does not have, such as `instructions[0].nope`. */
  readonly unknown: readonly string[];
}

/**
 * Gives keys the case of the shape and drops nulls, as Go's decoder does: a key matches in any case, the last of those that match wins,
 * and null leaves a member as it was, or is an empty element of a list or map. Values of the wrong type stay for whoever checks types.
 */
export function foldKeys(value: unknown, shape: KeyShape): FoldedKeys {
  const unknown: string[] = [];
  return { value: fold(value, shape, '', unknown), unknown };
}

function fold(value: unknown, shape: KeyShape, path: string, unknown: string[]): unknown {
  if (value === null) return emptyOf(shape);
  if (shape.kind === 'list' && Array.isArray(value)) {
    return value.map((element, index) => fold(element, shape.of, `${path}[${index}]`, unknown));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  if (shape.kind === 'map') {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, member]) => [key, fold(member, shape.of, join(path, key), unknown)]),
    );
  }
  return shape.kind === 'struct' ? foldStruct(value, shape.keys, path, unknown) : value;
}

function foldStruct(
  value: object,
  keys: Readonly<Record<string, KeyShape>>,
  path: string,
  unknown: string[],
): unknown {
  const folded: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = nameOf(key, keys);
    const shape = name === undefined ? undefined : keys[name];
    if (name === undefined || shape === undefined) unknown.push(join(path, key));
    // Most are texts and numbers, in which there is nothing to fold.
    else if (typeof member !== 'object') folded[name] = member;
    else if (member !== null) folded[name] = fold(member, shape, join(path, name), unknown);
  }
  return folded;
}

function nameOf(key: string, keys: Readonly<Record<string, KeyShape>>): string | undefined {
  // As nearly all are written; a plan may have thousands.
  if (Object.hasOwn(keys, key)) return key;
  const folded = key.toLowerCase();
  return Object.keys(keys).find((name) => name.toLowerCase() === folded);
}

function emptyOf(shape: KeyShape): unknown {
  if (shape.kind === 'list') return [];
  return shape.kind === 'value' ? null : {};
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

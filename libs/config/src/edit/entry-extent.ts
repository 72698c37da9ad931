import type { CST, YAMLMap, YAMLSeq } from '@wins/net/yaml';

/** Position of an entry in the text, without surrounding commas and comments. */
export interface EntryExtent {
  readonly start: number;
  readonly end: number;
  /** Offset after the colon; undefined for a list entry or a key without a colon. */
  readonly colonEnd: number | undefined;
}

const NO_CONTENT: ReadonlySet<string> = new Set(['space', 'newline', 'comment', 'comma']);

/** Undefined for a malformed collection, whose tokens do not match its items. */
export function entryExtents(collection: YAMLMap | YAMLSeq): EntryExtent[] | undefined {
  const token = collection.srcToken;
  if (token === undefined || !('items' in token)) return undefined;
  const extents = token.items.flatMap((item: CST.CollectionItem) => {
    // An item without an entry contains the comments or comma after the last entry.
    const pieces = piecesOfItem(item);
    const [first] = pieces;
    if (first === undefined) return [];
    const colon = item.sep?.find(({ type }) => type === 'map-value-ind');
    const end = Math.max(...pieces.map((piece) => piece.end));
    return [{ start: first.start, end, colonEnd: colon && colon.offset + colon.source.length }];
  });
  return extents.length === collection.items.length ? extents : undefined;
}

type Piece = Pick<EntryExtent, 'start' | 'end'>;

function piecesOfItem(item: CST.CollectionItem): Piece[] {
  const { start, key, sep = [], value } = item;
  return [...start, ...(key ? [key] : []), ...sep, ...(value ? [value] : [])].flatMap(pieceOf);
}

/** The recursion is bounded, because the YAML reader limits the depth. */
function pieceOf(token: CST.Token): Piece[] {
  if (NO_CONTENT.has(token.type)) return [];
  const start = token.offset;
  switch (token.type) {
    case 'block-map':
    case 'block-seq': {
      const ends = token.items.flatMap(piecesOfItem).map(({ end }) => end);
      return [{ start, end: ends.reduce((a, b) => Math.max(a, b), start) }];
    }
    case 'flow-collection': {
      const closing = token.end.find(({ type }) => type.startsWith('flow-'));
      return closing === undefined ? [] : [{ start, end: closing.offset + closing.source.length }];
    }
    case 'block-scalar': {
      const lengths = token.props.map((prop) => ('source' in prop ? prop.source.length : 0));
      const header = lengths.reduce((sum, length) => sum + length, 0);
      return [{ start, end: start + header + token.source.length }];
    }
    default:
      return 'source' in token ? [{ start, end: start + token.source.length }] : [];
  }
}

import { quoteText } from '@wins/base';
import { checkedBytes, type ImageLimits } from '../checked-bytes.js';
import { decompress, LAYER_COMPRESSIONS } from '../compression/decompress.js';
import type { FoundImage } from '../image-documents.js';
import { asImageError, imageFailed } from '../image-failure.js';
import { entryParts, SpellingCheck, Subtree, type FileSystemOs } from './entry-path.js';
import { ImageFolder } from './image-folder.js';
import { readTar, type TarEntry } from './read-tar.js';

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
/** Prefix of entries that only AUFS itself uses. `OPAQUE` has it too, but is a whiteout. */
const AUFS = '.wh..wh.';

export interface UnpackOptions {
  readonly folder: string;
  readonly subtree?: string | undefined;
  readonly os: FileSystemOs;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}

/**
 * Unpacked files stay after an error. If the signal aborts, throws the signal's reason.
 * @throws AgentError `imageFailed`, `unreachable`.
 */
export async function unpackImage(image: FoundImage, options: UnpackOptions): Promise<void> {
  const { diffIds } = image;
  const { limits, signal } = options;
  if (diffIds.length > limits.layers)
    throw imageFailed('unpack an image', `${diffIds.length} layers`, `at most ${limits.layers}`);
  let entries = 0;
  let pathUnits = 0;
  let unpackedBytes = 0;
  const countEntry = (path: string): void => {
    signal.throwIfAborted();
    entries += 1;
    pathUnits += path.length;
    if (entries > limits.entries)
      throw imageFailed('unpack an image', 'more entries', `at most ${limits.entries}`);
    if (pathUnits > limits.pathUnits)
      throw imageFailed('unpack an image', 'longer paths', `at most ${limits.pathUnits} in all`);
  };
  const folder = await ImageFolder.open(options.folder, countEntry);
  const context = { folder, subtree: new Subtree(options.subtree), os: options.os, countEntry };
  async function* counted(bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      unpackedBytes += chunk.length;
      yield chunk;
    }
  }
  // Skip the base layers: they contain nothing below the subtree.
  let index = options.subtree === undefined ? 0 : image.baseLayers;
  for await (const bytes of image.layers(index)) {
    const unpacked = checkedBytes(decompress(bytes, LAYER_COMPRESSIONS), {
      what: `unpack layer ${index + 1}`,
      maxBytes: limits.unpackedBytes - unpackedBytes,
      digest: diffIds[index],
    });
    try {
      await applyLayer(counted(unpacked), context);
    } catch (error) {
      signal.throwIfAborted();
      throw asImageError(error, `unpack layer ${index + 1}`);
    }
    index += 1;
  }
}

interface LayerContext {
  readonly folder: ImageFolder;
  readonly subtree: Subtree;
  readonly os: FileSystemOs;
  /** Throws above the limits. */
  readonly countEntry: (path: string) => void;
}

async function applyLayer(tar: AsyncIterable<Uint8Array>, context: LayerContext): Promise<void> {
  context.folder.beginLayer();
  const spelling = context.os === 'windows' ? new SpellingCheck() : undefined;
  for await (const entry of readTar(tar)) {
    context.countEntry(entry.header.name);
    const parts = entryParts(entry.header.name, context.os);
    const name = parts.at(-1) ?? '';
    if (name.startsWith(WHITEOUT)) {
      await whiteOut(parts, name, context);
      continue;
    }
    const target = context.subtree.inside(parts);
    if (target === undefined) continue;
    spelling?.add(target);
    try {
      await make(entry, parts, target, context);
    } catch (error) {
      throw asImageError(error, `unpack ${quoteText(entry.header.name)}`);
    }
  }
}

async function whiteOut(
  parts: readonly string[],
  name: string,
  context: LayerContext,
): Promise<void> {
  if (name.startsWith(AUFS) && name !== OPAQUE) return;
  const folder = parts.slice(0, -1);
  const opaque = name === OPAQUE;
  // Check the name again, because `..` may follow the `.wh.` prefix.
  const gone = opaque ? folder : [...folder, ...onePart(name.slice(WHITEOUT.length), context.os)];
  const target = context.subtree.isWithin(gone) ? [] : context.subtree.inside(gone);
  if (target === undefined) return;
  await (opaque || target.length === 0
    ? context.folder.empty(target)
    : context.folder.remove(target));
}

function onePart(name: string, os: FileSystemOs): string[] {
  const parts = entryParts(name, os);
  if (parts.length === 1) return parts;
  const what = `unpack ${quoteText(WHITEOUT + name)}`;
  throw imageFailed(what, 'no name after .wh.', 'the name of a removed file');
}

async function make(
  entry: TarEntry,
  parts: readonly string[],
  target: readonly string[],
  { folder, subtree, os }: LayerContext,
): Promise<void> {
  const { header } = entry;
  switch (kindOf(header)) {
    case 'directory':
      await folder.makeFolder(target, header.mode);
      break;
    case 'file':
    case 'contiguous-file':
      await folder.makeFile(target, header.mode, entry);
      break;
    case 'symlink':
      await folder.makeLink(target, (from) =>
        linkTarget(header, parts.slice(0, parts.length - target.length), from, { subtree, os }),
      );
      break;
    case 'link': {
      const other = subtree.inside(entryParts(header.linkname ?? '', os));
      if (other === undefined) throw leadsOut(header);
      await folder.makeHardLink(target, other);
      break;
    }
    default: {
      const found = `an entry of the kind ${quoteText(header.type ?? 'unknown')}`;
      throw imageFailed(`unpack ${quoteText(header.name)}`, found, 'a file, a folder or a link');
    }
  }
}

/** In pax headers, GNU tar marks sparse files. Their data begins with a map. Old tars end a folder's name with a slash. */
function kindOf({ name, type, pax }: TarEntry['header']): string | null {
  if (Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) return 'sparse file';
  return type === 'file' && name.endsWith('/') ? 'directory' : type;
}

/** An absolute target starts at the root of the image. */
function linkTarget(
  header: TarEntry['header'],
  root: readonly string[],
  from: readonly string[],
  { subtree, os }: Pick<LayerContext, 'subtree' | 'os'>,
): readonly string[] {
  const text = header.linkname ?? '';
  const path = text.startsWith('/') ? [] : [...root, ...from];
  for (const step of text.split('/')) {
    if (step !== '..') path.push(...entryParts(step, os));
    else if (path.pop() === undefined) throw leadsOut(header);
  }
  const target = subtree.inside(path);
  if (target === undefined || text === '') throw leadsOut(header);
  return target;
}

function leadsOut({ name, linkname }: TarEntry['header']) {
  const found = `a link to ${quoteText(linkname ?? '')}`;
  const wanted = 'one that stays in the folder of the image';
  return imageFailed(`unpack ${quoteText(name)}`, found, wanted);
}

import type { HttpAnswer } from '@wins/net';
import { AgentError } from '../../agent-error.js';
import { readDocument, type Expected } from '../checked-bytes.js';
import {
  exactly,
  imageOfManifest,
  type FoundImage,
  type Wanted,
  findManifest,
  type Descriptor,
} from '../image-documents.js';
import { parseUrl } from './endpoints.js';
import type { RegistryAccess } from './registry-access.js';
import type { RegistrySession } from './registry-session.js';

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const MAX_URLS = 4;

/** @throws AgentError `unreachable`, `unauthorized`, `notFound`, `imageFailed`. */
export async function fetchImage(
  session: RegistrySession,
  access: RegistryAccess,
  { reference, platform, limits }: Wanted,
): Promise<FoundImage> {
  const fetch = async (name: string, expected: Partial<Expected>): Promise<Buffer> => {
    const answer = await session.get(`manifests/${name}`, { accept: ACCEPT });
    const own = { what: 'read a manifest', maxBytes: limits.documentBytes };
    return await readDocument(access.body(answer), { ...own, ...expected });
  };
  const { digest } = reference;
  const manifest = await findManifest(
    await fetch(digest ?? reference.tag, { digest }),
    platform,
    (entry) => fetch(entry.digest, exactly(entry)),
  );
  const blob = (descriptor: Descriptor) => bytesOf(descriptor, session, access);
  return await imageOfManifest(manifest, limits, { blob, layers: (all) => all.map(blob) });
}

/** Windows base layers may be on another server, which receives no credentials. Digests verify the bytes. */
async function* bytesOf(
  { digest, urls }: Descriptor,
  session: RegistrySession,
  access: RegistryAccess,
): AsyncGenerator<Uint8Array> {
  const path = `blobs/${digest}`;
  let answer: HttpAnswer;
  try {
    answer = await session.get(path);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'notFound') throw error;
    yield* access.body(await openElsewhere(urls ?? [], access, error));
    return;
  }
  yield* access.body(answer, (fromByte) => session.get(path, { range: `bytes=${fromByte}-` }));
}

async function openElsewhere(
  urls: readonly string[],
  access: RegistryAccess,
  notFound: AgentError,
): Promise<HttpAnswer> {
  let failure: unknown = notFound;
  for (const text of urls.slice(0, MAX_URLS)) {
    const url = parseUrl(text);
    if (url?.protocol !== 'https:') continue;
    try {
      const answer = await access.ask(url, {});
      if (answer.status === 200) return answer;
      answer.close();
    } catch (unreached) {
      failure = unreached;
    }
  }
  throw failure;
}

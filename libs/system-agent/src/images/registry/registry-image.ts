import type { HttpAnswer } from '@wins/net';
import { AgentError } from '../../agent-error.js';
import { checkedBytes, readDocument } from '../checked-bytes.js';
import { foundImage, type FoundImage, type Wanted } from '../found-image.js';
import {
  choosePlatform,
  parseConfig,
  parseManifest,
  type Descriptor,
  type Manifest,
} from '../image-documents.js';
import { imageFailed } from '../image-failure.js';
import type { HostConnections } from './host-connections.js';
import { parseUrl } from './parse-url.js';
import type { RegistrySession } from './registry-session.js';

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const MAX_DEPTH = 3;
/** Other places of a layer that are tried. */
const MAX_URLS = 4;

/** @throws AgentError `unreachable`, `unauthorized`, `notFound`, `imageFailed`. */
export async function fetchImage(
  session: RegistrySession,
  connections: HostConnections,
  wanted: Wanted,
): Promise<FoundImage> {
  const { limits } = wanted;
  const { config, layers } = await fetchManifest(session, wanted);
  const path = `blobs/${config.digest}`;
  const answer = await session.get(path);
  const expected = {
    what: 'read the config of an image',
    maxBytes: limits.documentBytes,
    ...exactly(config),
  };
  const parsed = parseConfig(await readDocument(session.body(answer, path), expected));
  const open = async function* (first: number) {
    for (const layer of layers.slice(first)) {
      if (layer.size > limits.layerBytes)
        throw imageFailed('read a layer', `${layer.size} bytes`, `at most ${limits.layerBytes}`);
      const { answer: found, path: own } = await openLayer(session, connections, layer);
      const bytes = session.body(found, own);
      yield checkedBytes(bytes, {
        what: 'read a layer',
        maxBytes: limits.layerBytes,
        ...exactly(layer),
      });
    }
  };
  return foundImage({ config: parsed, layers, open });
}

async function fetchManifest(
  session: RegistrySession,
  { reference, platform, limits }: Wanted,
): Promise<Manifest> {
  let name = reference.digest ?? reference.tag;
  let expected: { size?: number; digest?: string | undefined } = { digest: reference.digest };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const answer = await session.get(`manifests/${name}`, { accept: ACCEPT });
    const text = await readDocument(session.body(answer), {
      what: 'read a manifest',
      maxBytes: limits.documentBytes,
      digest: digestHeader(answer),
      ...expected,
    });
    const parsed = parseManifest(text);
    if (parsed.kind === 'manifest') return parsed.manifest;
    const chosen = choosePlatform(parsed.manifests, platform);
    expected = exactly(chosen);
    name = chosen.digest;
  }
  throw imageFailed('read a manifest', 'lists in lists', 'an image');
}

/** What the server says the digest is: no proof, but a sign that the answer came whole. */
function digestHeader({ headers }: HttpAnswer): string | undefined {
  const value = headers['docker-content-digest'];
  return typeof value === 'string' && value.startsWith('sha256:') ? value : undefined;
}

/** Base layers of Windows may lie elsewhere; their digest is checked all the same, and nothing of us is shown there. */
async function openLayer(
  session: RegistrySession,
  connections: HostConnections,
  { digest, urls }: Descriptor,
): Promise<{ readonly answer: HttpAnswer; readonly path?: string }> {
  const path = `blobs/${digest}`;
  try {
    return { answer: await session.get(path), path };
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'notFound') throw error;
    let failure: unknown = error;
    for (const text of urls?.slice(0, MAX_URLS) ?? []) {
      const url = parseUrl(text);
      if (url?.protocol !== 'https:') continue;
      try {
        const answer = await connections.ask(url, {});
        if (answer.status === 200) return { answer };
        answer.close();
      } catch (unreached) {
        // Perhaps the next one answers.
        failure = unreached;
      }
    }
    throw failure;
  }
}

function exactly({ digest, size }: Descriptor) {
  return { digest, size };
}

import { quoteText, reporter, withDefaults, type Optional } from '@wins/base';
import { HttpClient, type HttpLimits } from '@wins/net';
import { systemClock, type Clock } from '@wins/time';
import { HostNetworkError } from '../host-network-error.js';
import type { Gathered } from './element-list.js';
import { readElements } from './read-elements.js';
import type { Feed, FeedListener, Snapshot } from './source.js';

/** Rancher's metadata service, and the identity of this host. */
export interface MetadataServiceOptions {
  /** `169.254.169.250`, with the port unless it is 80. */
  readonly address: string;
  /** An answer for another host is rejected. */
  readonly hostUuid: string;
  /** Hosts and containers of other environments are ignored. */
  readonly environmentUuid: string;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
  /** Default: 5 s to connect and between parts of an answer, 30 s in total; 75 s for a long poll. */
  readonly limits?: Optional<HttpLimits> | undefined;
}

const BASE = '/2016-07-29';
const WHAT = "ask Rancher's metadata service";
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_ELEMENT_BYTES = 64 * 1024;
const MAX_TEXT_BYTES = 4096;
const LONG_POLL_S = 60;
/** Limit for a long poll. Exceeds `LONG_POLL_S`, because the service answers up to 5 s late. */
const LONG_POLL_MS = 75_000;
const LIMITS = { connectMs: 5_000, answerMs: 10_000, idleMs: 5_000, totalMs: 30_000 };
/**
 * Delay after each long poll. New versions of the metadata come in bursts, and often leave the list of hosts or containers
 * unchanged.
 */
const GATHER_MS = 1_000;

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Follows a list of Rancher's metadata service: reads it at once, and again a second after each new version. The service speaks
 * plain HTTP. Redirects and proxies are not used.
 *
 * @param read - Builds a snapshot in one pass. An element that is not an object arrives as undefined.
 */
export function followMetadata<Item>(
  options: MetadataServiceOptions,
  list: '/hosts' | '/containers',
  read: (
    pass: (onElement: (element: Fields | undefined) => void) => Promise<void>,
  ) => Promise<Gathered<Item>>,
): Feed<Item> {
  const { address, clock = systemClock, limits } = options;
  const clientWith = (own: Optional<HttpLimits>): HttpClient =>
    new HttpClient({
      tries: 1,
      environment: {},
      systemRoots: () => [],
      limits: withDefaults<Optional<HttpLimits>>({ ...LIMITS, ...own }, limits),
    });
  const client = clientWith({});
  const patient = clientWith({ answerMs: LONG_POLL_MS, totalMs: LONG_POLL_MS });
  return {
    follow: async (listener: FeedListener<Item>, { signal }) => {
      const hasContact = reporter(() => listener.onContact());
      let version = await askForText(client, '/version', signal);
      for (;;) {
        const againMs = await listener.onSnapshot(await readSnapshot(version));
        if (againMs > 0) {
          await clock.wait(againMs, { signal });
          version = await askForText(client, '/version', signal);
          continue;
        }
        const known = version;
        while (version === known) {
          const query = `wait=true&value=${encodeURIComponent(known)}&maxWait=${LONG_POLL_S}`;
          version = await askForText(patient, `/version?${query}`, signal);
          hasContact();
          await clock.wait(GATHER_MS, { signal });
        }
      }

      async function readSnapshot(of: string): Promise<Snapshot<Item>> {
        const self = await askForText(client, '/self/host/uuid', signal);
        if (self !== options.hostUuid)
          throw mismatch('the host', self, options.hostUuid, 'metadata.hostUuid');
        const gathered = await read((onElement) =>
          withAnswer(client, list, MAX_BODY_BYTES, signal, (parts) =>
            readElements(parts, MAX_ELEMENT_BYTES, (element) => onElement(fieldsOf(element))),
          ),
        );
        return { ...gathered, version: of };
      }
    },
  };

  async function askForText(of: HttpClient, path: string, signal: AbortSignal): Promise<string> {
    const bytes: Uint8Array[] = [];
    await withAnswer(of, path, MAX_TEXT_BYTES, signal, async (parts) => {
      for await (const part of parts) bytes.push(part);
    });
    const text: unknown = parse(Buffer.concat(bytes).toString('utf8'));
    if (typeof text === 'string' && text !== '') return text;
    throw new HostNetworkError('badSource', `cannot ${WHAT}: found no text at ${path}`);
  }

  async function withAnswer(
    of: HttpClient,
    path: string,
    maxBytes: number,
    signal: AbortSignal,
    use: (parts: AsyncIterable<Uint8Array>) => Promise<void>,
  ): Promise<void> {
    const request = {
      url: new URL(`http://${address}${BASE}${path}`),
      headers: { accept: 'application/json' },
      trust: { roots: [] },
      isDirect: true,
      redirects: 'none' as const,
    };
    const answer = await of.open(request, WHAT, { signal });
    try {
      const { status } = answer;
      if (status !== 200) {
        const message = `cannot ${WHAT}: ${path} answered with status ${status}; wanted 200`;
        throw new HostNetworkError('badSource', message);
      }
      await use(answer.body({ maxBytes }));
    } finally {
      answer.close();
    }
  }
}

export function mismatch(
  what: string,
  found: unknown,
  wanted: string,
  key: string,
): HostNetworkError {
  const shown = typeof found === 'string' ? quoteText(found) : typeof found;
  const message = `cannot use the hosts: ${what} is ${shown}; wanted ${quoteText(wanted)} (hostNetwork.${key})`;
  return new HostNetworkError('badSource', message);
}

export function fieldsOf(value: unknown): Fields | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

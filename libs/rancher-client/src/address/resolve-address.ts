import type { HttpClient } from '@wins/net';
import { parseAddress as parseIp, quoteText, withDefaults, type Optional } from '@wins/base';
import { networkInterfaces } from 'node:os';
import { rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';

/** Base URLs of services that report the address of this machine. */
export interface CloudServices {
  /** Link-local metadata service of cloud providers. Requests to it do not leave the local network. */
  readonly linkLocal: string;
  readonly equinix: string;
  readonly ipify: string;
}

/** Options of {@link resolveAddress}. */
export interface AddressOptions extends RancherSettings {
  /** Returns the addresses of an adapter; undefined when it does not exist. Default: from Node. */
  readonly addressesOf?: ((name: string) => readonly string[] | undefined) | undefined;
  /** Default: the public addresses of these services. */
  readonly services?: Optional<CloudServices> | undefined;
}

const CLOUD_SERVICES: CloudServices = {
  linkLocal: 'http://169.254.169.254',
  equinix: 'https://metadata.packet.net',
  ipify: 'https://api.ipify.org',
};

interface CloudWord {
  readonly service: keyof CloudServices;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** True for version 2 of the AWS metadata service. */
  readonly hasSession?: boolean;
}

/**
 * The request for a session token of the AWS metadata service. The next request sends this token in the header that
 * `answerHeader` names.
 */
export const AWS_SESSION = {
  path: '/latest/api/token',
  headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
  answerHeader: 'x-aws-ec2-metadata-token',
} as const;

const linkLocal = (path: string, headers = {}): CloudWord => ({
  service: 'linkLocal',
  path,
  headers,
});
const aws = (name: string): CloudWord => ({
  ...linkLocal(`/latest/meta-data/${name}`),
  hasSession: true,
});
const azure = (name: string) => {
  const path = `/metadata/instance/network/interface/0/ipv4/ipAddress/0/${name}`;
  return linkLocal(`${path}?api-version=2021-02-01&format=text`, { metadata: 'true' });
};
const digitalOcean = (name: string) => linkLocal(`/metadata/v1/interfaces/${name}/0/ipv4/address`);
const google = (name: string) => {
  const headers = { 'metadata-flavor': 'Google' };
  return linkLocal(`/computeMetadata/v1/instance/network-interfaces/0/${name}`, headers);
};
const equinix = (name: string): CloudWord => ({
  service: 'equinix',
  path: `/2009-04-04/meta-data/${name}`,
});

export const CLOUD_WORDS: ReadonlyMap<string, CloudWord> = new Map([
  ['awslocal', aws('local-ipv4')],
  ['awspublic', aws('public-ipv4')],
  ['azprivate', azure('privateIpAddress')],
  ['azpublic', azure('publicIpAddress')],
  ['doprivate', digitalOcean('private')],
  ['dopublic', digitalOcean('public')],
  ['gceinternal', google('ip')],
  ['gceexternal', google('access-configs/0/external-ip')],
  ['packetlocal', equinix('local-ipv4')],
  ['packetpublic', equinix('public-ipv4')],
  ['ipify', { service: 'ipify', path: '/' }],
]);

const LIMIT_MS = 10_000;
const MAX_BYTES = 4096;
/** A DNS host name (RFC 1123). */
const HOST =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;

/**
 * Resolves `CATTLE_ADDRESS` or `CATTLE_INTERNAL_ADDRESS`. An IP address or host name stays as it is. A cloud keyword (`awslocal`,
 * `ipify`, …) becomes the answer of its metadata service, within 10 s. An adapter becomes one of its addresses,
 * preferably IPv4. In a comma-separated list (dual stack), an adapter adds an address of the missing family: `eth0,eth0`
 * yields its IPv4 and IPv6 address. An empty text stays empty.
 * Link-local metadata services are queried over `http://` and never through a proxy.
 * @throws RancherError
 */
export async function resolveAddress(text: string, options: AddressOptions = {}): Promise<string> {
  const { addressesOf = addressesOfAdapter } = options;
  const whole = text.trim();
  // Check the whole text first, because Windows allows a comma in the name of an adapter.
  const isAdapter = addressesOf(whole) !== undefined;
  const parts = isAdapter ? [whole] : whole.split(',').map((part) => part.trim());
  const found: string[] = [];
  for (const part of parts.filter((one) => one !== ''))
    found.push(await resolvePart(part, found, addressesOf, options));
  return found.join(',');
}

async function resolvePart(
  name: string,
  others: readonly string[],
  addressesOf: typeof addressesOfAdapter,
  { services, ...settings }: AddressOptions,
): Promise<string> {
  if (parseIp(name) !== undefined) return name;
  const word = CLOUD_WORDS.get(name);
  if (word !== undefined)
    return await askCloud(name, word, withDefaults(CLOUD_SERVICES, services), settings);
  const addresses = addressesOf(name);
  if (addresses !== undefined) return addressOf(name, addresses, others);
  if (HOST.test(name)) return name;
  const message = `cannot use the address ${quoteText(name)}: there is no adapter of this name; wanted an IP address, a host name, an adapter, or one of ${[...CLOUD_WORDS.keys()].join(', ')}`;
  throw new RancherError('invalidRequest', message);
}

/** Windows ignores the case of the name. */
function addressesOfAdapter(name: string): readonly string[] | undefined {
  const fold = (text: string) => (process.platform === 'win32' ? text.toLowerCase() : text);
  const adapters = Object.entries(networkInterfaces());
  const [, found] = adapters.find(([each]) => fold(each) === fold(name)) ?? [];
  return found?.map(({ address }) => address);
}

/** Prefers the address family that `others` lack; within a family, puts self-assigned addresses last. */
function addressOf(name: string, addresses: readonly string[], others: readonly string[]): string {
  const hasIpv4 = others.some((each) => parseIp(each) !== undefined && !isIpv6(each));
  const rank = (each: string): number =>
    (isIpv6(each) === hasIpv4 ? 0 : 2) + (LINK_LOCAL.test(each) ? 1 : 0);
  const [found] = addresses
    .filter((each) => !others.includes(each))
    .sort((a, b) => rank(a) - rank(b));
  if (found !== undefined) return found;
  const message = `cannot use the adapter ${quoteText(name)}: it has no other address than those in the list`;
  throw new RancherError('invalidRequest', message);
}

const LINK_LOCAL = /^169\.254\.|^fe[89ab][0-9a-f]:/i;
const isIpv6 = (address: string): boolean => address.includes(':');

async function askCloud(
  name: string,
  { service, path, headers, hasSession = false }: CloudWord,
  services: CloudServices,
  settings: RancherSettings,
): Promise<string> {
  const what = `find the address that ${name} stands for`;
  const asked = { what, maxBytes: MAX_BYTES };
  using client = quickClient(settings);
  const isDirect = service === 'linkLocal';
  const request = (where: string) => ({
    url: new URL(where, services[service]),
    isDirect,
    trust: { roots: isDirect ? [] : client.settings.systemRoots() },
  });
  const begin = {
    ...request(AWS_SESSION.path),
    method: 'PUT',
    headers: AWS_SESSION.headers,
  } as const;
  const session = hasSession ? oneLine(await client.askForBytes(begin, asked)) : undefined;
  const question = {
    ...request(path),
    headers: { ...headers, ...(session !== undefined && { [AWS_SESSION.answerHeader]: session }) },
    secrets: session === undefined ? [] : [session],
  };
  const { body } = await client.askForBytes(question, asked);
  const found = body.toString('utf8').trim();
  if (parseIp(found) !== undefined) return found;
  const shown = found === '' ? 'nothing' : quoteText(found, { maxLength: 64 });
  const message = `cannot ${what}: found ${shown}; wanted an IP address. Check that this machine has one`;
  throw new RancherError('badShape', message);
}

function oneLine({ body }: { readonly body: Buffer }): string {
  const text = body.toString('latin1').trim();
  if (/^[\x21-\x7e]{1,2048}$/.test(text)) return text;
  const message = 'cannot ask the metadata service: it returned no session token';
  throw new RancherError('badShape', message);
}

/** Returns a client with time-outs of at most 10 s, because a metadata service answers at once. The client follows no redirects. */
function quickClient({ limits, ...settings }: RancherSettings): HttpClient {
  const atMost = (ms: number = LIMIT_MS) => Math.min(ms, LIMIT_MS);
  const { connectMs, answerMs, idleMs, totalMs } = limits ?? {};
  const quick = {
    connectMs: atMost(connectMs),
    answerMs: atMost(answerMs),
    idleMs: atMost(idleMs),
    totalMs: atMost(totalMs),
    maxRedirects: 0,
  };
  return rancherClient({ ...settings, limits: quick });
}

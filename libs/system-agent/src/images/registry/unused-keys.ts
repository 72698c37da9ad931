import { quoteText } from '@wins/base';
import { withoutUser } from '@wins/net';
import { isRegistry } from '../reference.js';
import { decodeAuth } from './decode-auth.js';
import { baseOf, parseUrl } from './endpoints.js';
import {
  entryOf,
  KNOWN_KEYS,
  namesOfRegistry,
  namesOfServer,
  type FoundRegistries,
  type Registries,
  type RegistryConfig,
} from './registries-file.js';

const MAX_WARNINGS = 20;

interface Unused {
  /** The path of the key, from the top level. */
  readonly path: readonly string[];
  readonly reason: string;
}

/** Warns of keys that cannot affect any image, such as a misspelt one. Shows no value. */
export function unusedKeys({
  registries,
  file = '',
  anchored,
}: FoundRegistries): readonly string[] {
  const own = Object.entries(registries).filter(([key]) => !anchored.has(key));
  const all = [
    ...unknownIn(Object.fromEntries(own), [], KNOWN_KEYS.file),
    ...Object.entries(registries.mirrors ?? {}).flatMap(([name, mirror]) =>
      unusedOfMirror(name, mirror ?? {}, registries),
    ),
    ...Object.entries(registries.configs ?? {}).flatMap(([name, config]) =>
      unusedOfConfig(name, config ?? {}, registries),
    ),
  ];
  const rest = all.length - MAX_WARNINGS;
  return [
    ...all.slice(0, MAX_WARNINGS).map(({ path, reason }) => {
      const key = quoteText(path.map(withoutUser).join('.'));
      return `nothing uses ${key} of ${file}: ${reason}`;
    }),
    ...(rest > 0 ? [`nothing uses ${rest} more keys of ${file}`] : []),
  ];
}

/** True if a server can have this name: names with a scheme or a path never match. */
export function isServerName(name: string): boolean {
  return ['https', 'http'].some((scheme) => {
    const url = parseUrl(`${scheme}://${name}`);
    return url !== undefined && namesOfServer(url).includes(name.toLowerCase());
  });
}

function unusedOfMirror(
  name: string,
  mirror: NonNullable<NonNullable<Registries['mirrors']>[string]>,
  { mirrors }: Registries,
): readonly Unused[] {
  const path = ['mirrors', name];
  const unknown = unknownIn(mirror, path, KNOWN_KEYS.mirror);
  if (unknown.length > 0 && KNOWN_KEYS.file.includes(name))
    return [{ path, reason: `"${name}" belongs to the top level of the file` }];
  const others = [
    ...unknown,
    ...(Object.keys(mirror.rewrite ?? {}).length > 0 && (mirror.endpoint ?? []).length === 0
      ? [{ path: [...path, 'rewrite'], reason: '"endpoint" is missing' }]
      : []),
  ];
  if (name === '*') return others;
  const registry = name.toLowerCase();
  if (!isRegistry(registry)) return [{ path, reason: wantedHost(name) }];
  return [...shadowed(path, entryOf(mirrors, namesOfRegistry(registry))?.name), ...others];
}

function unusedOfConfig(
  name: string,
  config: RegistryConfig,
  { mirrors, configs }: Registries,
): readonly Unused[] {
  const path = ['configs', name];
  const others = [
    ...unknownIn(config, path, KNOWN_KEYS.config),
    ...unknownIn(config.tls ?? {}, [...path, 'tls'], KNOWN_KEYS.tls),
    ...unusedOfAuth(config.auth ?? {}, [...path, 'auth']),
  ];
  if (name === '*') return others;
  if (!isServerName(name)) return [{ path, reason: wantedHost(name) }];
  const endpoints = Object.values(mirrors ?? {}).flatMap((mirror) => mirror?.endpoint ?? []);
  const entries = [name, ...endpoints].map(
    (text) => entryOf(configs, namesOfServer(baseOf(text)))?.name,
  );
  return [...(entries.includes(name) ? [] : shadowed(path, entries[0])), ...others];
}

/** Names no unknown key, because a name and a password may be a key: `auth: { agent: secret }`. */
function unusedOfAuth(
  auth: NonNullable<RegistryConfig['auth']>,
  path: readonly string[],
): readonly Unused[] {
  const { username, password, auth: encoded, identity_token: token } = auth;
  const isUnknown = unknownIn(auth, path, KNOWN_KEYS.auth).length > 0;
  const decoded = encoded ? decodeAuth(encoded) : undefined;
  const isSame = decoded?.username === username && decoded?.password === (password ?? '');
  return [
    ...(isUnknown
      ? [{ path, reason: `it has another key than ${inWords(KNOWN_KEYS.auth, 'and')}` }]
      : []),
    ...(password && !username
      ? [{ path: [...path, 'password'], reason: '"username" is missing' }]
      : []),
    ...(encoded && username && !isSame
      ? [{ path: [...path, 'auth'], reason: '"username" has precedence' }]
      : []),
    ...(encoded && !username && token && decoded === undefined
      ? [{ path: [...path, 'auth'], reason: 'it is not base64 of name:password' }]
      : []),
  ];
}

function unknownIn(
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  known: readonly string[],
): readonly Unused[] {
  const keys = Object.keys(value).filter((key) => !known.includes(key) && value[key] !== null);
  return keys.map((key) => ({
    path: [...path, shown(key)],
    reason: `wanted ${inWords(known, 'or')}`,
  }));
}

/** A key with other characters may be a secret at a wrong place. */
function shown(key: string): string {
  return /^[\w.-]{1,64}["']?$/.test(key) ? key : '…';
}

function wantedHost(name: string): string {
  const url = parseUrl(/^[a-z]+:\/\//i.test(name) ? name : `https://${name}`);
  const host = url === undefined || url.host === '' ? '' : `, here ${quoteText(url.host)}`;
  return `wanted a host, with or without a port${host}`;
}

function shadowed(path: readonly string[], used: string | undefined): readonly Unused[] {
  const [section = '', name] = path;
  if (used === name) return [];
  return [{ path, reason: `${quoteText(`${section}.${used ?? '*'}`)} has precedence` }];
}

function inWords(names: readonly string[], conjunction: string): string {
  return `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1) ?? ''}`;
}

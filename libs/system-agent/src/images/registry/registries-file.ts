import path from 'node:path';
import { readYaml } from '@wins/net';
import { readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { isMap, isNode, isScalar, visit, type Document, type Pair } from '@wins/net/yaml';
import * as z from 'zod/mini';
import { AgentError } from '../../agent-error.js';
import { AUTH_FORM, decodeAuth } from './decode-auth.js';

const MAX_BYTES = 1024 * 1024;
/** Booleans of YAML 1.1. */
const YES = ['y', 'yes', 'true', 'on'];
const NO = ['n', 'no', 'false', 'off'];
const text = z.nullish(z.string());
const word = z.string().check(
  z.toLowerCase(),
  z.refine((written) => [...YES, ...NO].includes(written), {
    error: 'no yes or no',
    params: { wanted: 'yes or no' },
  }),
);
const yesOrNo = z.pipe(
  word,
  z.transform((written: string) => YES.includes(written)),
);
// Unknown keys are kept for `unusedKeys`.
const mirror = z.looseObject({
  endpoint: z.nullish(z.array(z.string())),
  rewrite: z.nullish(z.record(z.string(), z.nullable(z.string()))),
});
/** By containerd's rule, `auth` counts only without `username` and `identity_token`. */
const auth = z
  .looseObject({ username: text, password: text, auth: text, identity_token: text })
  .check(
    z.refine(
      ({ username, identity_token: token, auth: own }) =>
        username || token || !own || decodeAuth(own) !== undefined,
      { path: ['auth'], error: AUTH_FORM.found, params: { wanted: AUTH_FORM.wanted } },
    ),
  );
const tls = z.looseObject({
  ca_file: text,
  cert_file: text,
  key_file: text,
  insecure_skip_verify: z.nullish(yesOrNo),
});
const config = z.looseObject({ auth: z.nullish(auth), tls: z.nullish(tls) });
const registries = z.looseObject({
  mirrors: z.nullish(z.record(z.string(), z.nullable(mirror))),
  configs: z.nullish(z.record(z.string(), z.nullable(config))),
});

/** The keys of each level of the file. */
export const KNOWN_KEYS = {
  file: Object.keys(registries.shape),
  mirror: Object.keys(mirror.shape),
  config: Object.keys(config.shape),
  auth: Object.keys(auth.shape),
  tls: Object.keys(tls.shape),
};

/** Content of `registries.yaml`. Reference: docs.rke2.io. */
export type Registries = z.infer<typeof registries>;
export type RegistryConfig = z.infer<typeof config>;

/** Returns candidates: use the first existing file. On Windows, they are on the process's current drive. */
export function registriesFiles(
  agentRegistriesFile = '/etc/rancher/agent/registries.yaml',
): readonly string[] {
  return [
    agentRegistriesFile,
    '/etc/rancher/rke2/registries.yaml',
    '/etc/rancher/k3s/registries.yaml',
  ].map((file) => path.resolve(file));
}

export interface FoundRegistries {
  readonly registries: Registries;
  readonly file: string | undefined;
  readonly warnings: readonly string[];
  /** Keys of the top level that an anchor makes useful elsewhere. */
  readonly anchored: ReadonlySet<string>;
}

/**
 * Reads the first existing file, which must be trusted because it decides where code comes from. Parses like Rancher's
 * library wharfie: YAML 1.1, scalars as text, first document only, repeated keys joined.
 * @throws AgentError `imageFailed` for an untrusted or unreadable file: using another registry would be worse.
 */
export async function readRegistries(
  files: readonly string[],
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<FoundRegistries> {
  for (const file of files) {
    const content = await readTrusted(file, trust);
    if (content !== undefined) return { ...parseRegistries(content, file), file };
  }
  return { registries: {}, file: undefined, warnings: [], anchored: new Set() };
}

function parseRegistries(content: string, file: string): Omit<FoundRegistries, 'file'> {
  const anchored = new Set<string>();
  const yaml = readYaml(z.nullish(registries), content, 'it', {
    version: '1.1',
    schema: 'failsafe',
    customTags: ['null', 'merge'],
    uniqueKeys: false,
    prepare: (document) => {
      joinTwice(document);
      for (const key of anchoredKeys(document)) anchored.add(key);
    },
  });
  if ('found' in yaml) {
    const { found, wanted = 'registries' } = yaml;
    throw new AgentError('imageFailed', `cannot read ${file}: ${found}; wanted ${wanted}`);
  }
  const { value, more } = yaml;
  const warning = `only the first document of ${file} is used: ${more} more follow`;
  return { registries: value ?? {}, warnings: more === 0 ? [] : [warning], anchored };
}

/** Like Go, merges the values of a repeated key in a struct, but keeps only the last value in a map. */
function joinTwice({ contents }: Document): void {
  const join = (node: unknown, depth: number): void => {
    if (!isMap(node)) return;
    const found = new Map<unknown, Pair>();
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? pair.key.source : pair.key;
      const earlier = found.get(key)?.value;
      // The pairs at depth 1 are the entries of `mirrors` and `configs`, which Go reads into maps.
      const isOfMap = depth === 1;
      if (!isOfMap && isMap(earlier) && isMap(pair.value)) earlier.items.push(...pair.value.items);
      else found.set(key, pair);
    }
    node.items = [...found.values()];
    for (const { value } of node.items) join(value, depth + 1);
  };
  join(contents, 0);
}

function anchoredKeys({ contents }: Document): readonly string[] {
  if (!isMap(contents)) return [];
  const hasAnchor = (node: unknown): boolean => {
    let isFound = false;
    if (isNode(node))
      visit(node, {
        Node: (_key, { anchor }) => {
          isFound ||= anchor !== undefined;
        },
      });
    return isFound;
  };
  return contents.items.filter(({ value }) => hasAnchor(value)).map(({ key }) => String(key));
}

/** Undefined when there is no file. @throws AgentError `imageFailed`. */
export async function readTrusted(name: string, trust: Pick<FileTrust, 'distrustOfFile'>) {
  try {
    return await readText(name, { trust, followLinks: true, maxBytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw new AgentError('imageFailed', messageOf(error), { cause: error });
  }
}

const HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];

/**
 * Finds the first of `names` that has an entry, even an empty one. Returns that entry, else the entry `*`. Ignores the
 * letter case of the keys in `entries`, like Rancher's library wharfie.
 */
export function entryOf<Value>(
  entries: Readonly<Record<string, Value>> | null | undefined,
  names: readonly string[],
): { readonly name: string; readonly value: Value } | undefined {
  const all = Object.entries(entries ?? {});
  for (const wanted of [...names, '*']) {
    const found = all.find(([name]) => name.toLowerCase() === wanted);
    if (found !== undefined) return { name: found[0], value: found[1] };
  }
  return undefined;
}

export function namesOfServer({ protocol, host, hostname, port }: URL): readonly string[] {
  if (HUB.includes(host)) return HUB;
  return port === '' ? [host, `${hostname}:${protocol === 'https:' ? '443' : '80'}`] : [host];
}

export function namesOfRegistry(registry: string): readonly string[] {
  if (HUB.includes(registry)) return HUB;
  if (registry.endsWith(':443')) return [registry, registry.slice(0, -':443'.length)];
  return /:\d+$/.test(registry) ? [registry] : [registry, `${registry}:443`, `${registry}:80`];
}

import type { FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import { withoutUser } from '@wins/net';
import * as z from 'zod/mini';
import { imageFailed, parseJson } from '../image-failure.js';
import { AUTH_FORM, decodeAuth } from './decode-auth.js';
import {
  entryOf,
  namesOfServer,
  readTrusted,
  type Registries,
  type RegistryConfig,
} from './registries-file.js';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Token to exchange for an access token. Servers that lack the exchange get `password`, which defaults to this token. */
  readonly identityToken?: string;
}

/** `auth`: base64 of `name:password`. */
type Auth = NonNullable<RegistryConfig['auth']>;

const text = z.optional(z.string());
const login = z.object({ username: text, password: text, auth: text, identitytoken: text });
const dockerConfig = z.object({ auths: z.optional(z.record(z.string(), login)) });

export type DockerConfig = z.infer<typeof dockerConfig>;

/**
 * Reads the `auths` of Docker's config.json, if any. Runs no credential helpers. @throws AgentError `imageFailed`.
 */
export async function readDockerConfig(path: string, trust: Pick<FileTrust, 'distrustOfFile'>) {
  const content = await readTrusted(path, trust);
  if (content === undefined) return {};
  const config = parseJson(dockerConfig, content, [path, 'the file of docker login']);
  for (const [host, { username, auth }] of Object.entries(config.auths ?? {}))
    if (!username && auth && decodeAuth(auth) === undefined) {
      const found = `${AUTH_FORM.found} in ${quoteText(`auths.${withoutUser(host)}.auth`)}`;
      throw imageFailed(`read ${path}`, found, AUTH_FORM.wanted);
    }
  return config;
}

export interface Login {
  readonly credentials: Credentials;
  /** Name of the source in messages. Example: `configs.registry.example of registries.yaml`. */
  readonly from: string;
}

export function loginOfRegistries(base: URL, { configs }: Registries): Login | undefined {
  const entry = entryOf(configs, namesOfServer(base));
  const credentials = entry?.value?.auth ? read(entry.value.auth) : undefined;
  return credentials && entry && { credentials, from: `configs.${entry.name} of registries.yaml` };
}

export function loginOfDocker(base: URL, { auths }: DockerConfig): Login | undefined {
  const names = namesOfServer(base);
  for (const [key, { identitytoken, ...auth }] of Object.entries(auths ?? {})) {
    if (!names.includes(key.replace(/^https?:\/\//, '').replace(/\/.*$/, ''))) continue;
    const credentials = read({ ...auth, identity_token: identitytoken });
    if (credentials !== undefined) return { credentials, from: `auths.${key} of Docker's file` };
  }
  return undefined;
}

function read({ username, password, auth, identity_token: token }: Auth): Credentials | undefined {
  const decoded = auth ? decodeAuth(auth) : undefined;
  const own = username ? { username, password: password ?? '' } : decoded;
  if (!token) return own;
  return {
    username: own?.username ?? '<token>',
    password: own?.password || token,
    identityToken: token,
  };
}

export function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

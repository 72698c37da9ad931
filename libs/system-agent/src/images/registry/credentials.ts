import type { FileTrust } from '@wins/trusted-files';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { entryOf, namesOfServer } from './host-entry.js';
import { readTrusted, type Registries } from './registries-file.js';

/** A name and its password. */
export interface NameAndPassword {
  readonly username: string;
  readonly password: string;
}

type PasswordCredentials = NameAndPassword & { readonly kind: 'password' };

/** Who the agent is to a registry. */
export type Credentials =
  | PasswordCredentials
  /** Is exchanged for a token, and shown to nobody else; `password` is for servers that know no such exchange. */
  | { readonly kind: 'identityToken'; readonly token: string; readonly password: NameAndPassword };

interface Auth {
  readonly username?: string | null | undefined;
  readonly password?: string | null | undefined;
  /** Base64 of `name:password`. */
  readonly auth?: string | null | undefined;
  readonly identity_token?: string | null | undefined;
}

const dockerConfig = z.object({
  auths: z
    .record(
      z.string(),
      z.object({
        username: z.string().optional(),
        password: z.string().optional(),
        auth: z.string().optional(),
        identitytoken: z.string().optional(),
      }),
    )
    .optional(),
});

export type DockerConfig = z.infer<typeof dockerConfig>;

/**
 * Reads the `auths` of Docker's config.json. Helpers that keep credentials elsewhere are programs, and not run.
 *
 * @returns Empty when there is no file. @throws AgentError `imageFailed`.
 */
export async function readDockerConfig(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<DockerConfig> {
  const content = await readTrusted(path, trust);
  if (content === undefined) return {};
  try {
    return dockerConfig.parse(JSON.parse(content));
  } catch {
    // The cause would quote passwords.
    throw new AgentError(
      'imageFailed',
      `cannot read ${path}: found another form; wanted that of docker login`,
    );
  }
}

/** Credentials, and where they are from, for people. */
export interface Login {
  readonly credentials: Credentials;
  /** `configs.registry.example of registries.yaml`. */
  readonly from: string;
}

/** What is configured for a server in `registries.yaml`. */
export function loginOfRegistries(base: URL, { configs }: Registries): Login | undefined {
  const entry = entryOf(configs, namesOfServer(base));
  const credentials = entry?.value?.auth ? read(entry.value.auth) : undefined;
  return credentials && entry && { credentials, from: `configs.${entry.name} of registries.yaml` };
}

/** What is configured for a server in Docker's file. */
export function loginOfDocker(base: URL, { auths }: DockerConfig): Login | undefined {
  const names = namesOfServer(base);
  for (const [key, { identitytoken, ...auth }] of Object.entries(auths ?? {})) {
    if (!names.includes(key.replace(/^https?:\/\//, '').replace(/\/.*$/, ''))) continue;
    const credentials = read({ ...auth, identity_token: identitytoken });
    if (credentials !== undefined) return { credentials, from: `auths.${key} of Docker's file` };
  }
  return undefined;
}

function read(auth: Auth): Credentials | undefined {
  const password = passwordOf(auth);
  const token = auth.identity_token;
  if (!token) return password;
  const { username = '<token>', password: word = '' } = password ?? {};
  return { kind: 'identityToken', token, password: { username, password: word || token } };
}

function passwordOf({ username, password, auth }: Auth): PasswordCredentials | undefined {
  if (username) return { kind: 'password', username, password: password ?? '' };
  if (!auth) return undefined;
  const [name = '', ...rest] = Buffer.from(auth, 'base64').toString('utf8').split(':');
  return { kind: 'password', username: name, password: rest.join(':').replace(/\0+$/, '') };
}

/** The value of `Authorization`. */
export function basic({ username, password }: NameAndPassword): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

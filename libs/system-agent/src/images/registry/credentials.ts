import type { FileTrust } from '@wins/trusted-files';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';
import { readTrusted, type Registries } from './registries-file.js';

/** Who the agent is to a registry. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** Is exchanged for a token, and shown to nobody else. */
  | { readonly kind: 'identityToken'; readonly token: string };

interface Auth {
  readonly username?: string | null | undefined;
  readonly password?: string | null | undefined;
  /** Base64 of `name:password`. */
  readonly auth?: string | null | undefined;
  readonly identity_token?: string | null | undefined;
}

const HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];
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

/** What is configured for a host with its port: in `registries.yaml`, else in Docker's file. */
export function credentialsFor(
  host: string,
  registries: Registries,
  docker: DockerConfig,
): Credentials | undefined {
  const hosts = HUB.includes(host) ? HUB : [host];
  for (const name of hosts) {
    const found = read(registries.configs?.[name]?.auth ?? {});
    if (found !== undefined) return found;
  }
  for (const [key, { identitytoken, ...auth }] of Object.entries(docker.auths ?? {})) {
    const name = key.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
    if (!hosts.includes(name)) continue;
    const found = read({ ...auth, identity_token: identitytoken });
    if (found !== undefined) return found;
  }
  return undefined;
}

function read({ username, password, auth, identity_token: token }: Auth): Credentials | undefined {
  if (token) return { kind: 'identityToken', token };
  if (username) return { kind: 'password', username, password: password ?? '' };
  if (!auth) return undefined;
  const [name = '', ...rest] = Buffer.from(auth, 'base64').toString('utf8').split(':');
  return { kind: 'password', username: name, password: rest.join(':').replace(/\0+$/, '') };
}

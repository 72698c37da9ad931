import path from 'node:path';
import { openTrustedFile, readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { escapeText, messageOf } from '@wins/wins-program';
import { parse } from 'yaml';
import { z } from 'zod';
import { AgentError } from '../../agent-error.js';

const MAX_BYTES = 1024 * 1024;

const text = z.string().nullish();
const registries = z.object({
  mirrors: z
    .record(
      z.string(),
      z
        .object({
          endpoint: z.array(z.string()).nullish(),
          rewrite: z.record(z.string(), z.string()).nullish(),
        })
        .nullable(),
    )
    .nullish(),
  configs: z
    .record(
      z.string(),
      z
        .object({
          auth: z
            .object({ username: text, password: text, auth: text, identity_token: text })
            .nullish(),
          tls: z
            .object({
              ca_file: text,
              cert_file: text,
              key_file: text,
              insecure_skip_verify: z.boolean().nullish(),
            })
            .nullish(),
        })
        .nullable(),
    )
    .nullish(),
});

/** What `registries.yaml` says, in its own words: docs.rke2.io has its reference. */
export type Registries = z.infer<typeof registries>;
export type RegistryConfig = NonNullable<NonNullable<Registries['configs']>[string]>;

/**
 * Where `registries.yaml` is looked for; the first that is there counts. On Windows they are on the drive of the process.
 *
 * @param agentRegistriesFile - The setting of the configuration; absent: `/etc/rancher/agent/registries.yaml`.
 */
export function registriesFiles(
  agentRegistriesFile = '/etc/rancher/agent/registries.yaml',
): readonly string[] {
  return [
    agentRegistriesFile,
    '/etc/rancher/rke2/registries.yaml',
    '/etc/rancher/k3s/registries.yaml',
  ].map((file) => path.resolve(file));
}

/**
 * Reads the first of the files that is there; it decides where code is fetched from, so it has to be trusted.
 *
 * @throws AgentError `imageFailed` when it is not trusted, or cannot be read: falling back to another registry would be worse than an error.
 */
export async function readRegistries(
  files: readonly string[],
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<Registries> {
  for (const file of files) {
    const content = await readTrusted(file, trust);
    if (content === undefined) continue;
    try {
      return registries.parse(parse(content) ?? {});
    } catch (error) {
      // What the parser says quotes the file, which holds passwords.
      const found = error instanceof z.ZodError ? z.prettifyError(error) : 'no YAML';
      throw new AgentError(
        'imageFailed',
        `cannot read ${file}: found ${escapeText(found)}; wanted registries`,
      );
    }
  }
  return {};
}

/** @returns Undefined when there is none. @throws AgentError `imageFailed`. */
export async function readTrusted(
  name: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<string | undefined> {
  try {
    const file = await openTrustedFile(name, trust, { followLinks: true });
    try {
      return await readText(file, { maxBytes: MAX_BYTES });
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw new AgentError('imageFailed', messageOf(error), { cause: error });
  }
}

import path from 'node:path';
import { readYaml } from '@wins/net';
import type { FileTrust } from '@wins/trusted-files';
import { parseDuration, quoteText } from '@wins/base';
import * as z from 'zod/mini';
import { AgentError } from '../../agent-error.js';
import { imageFailed } from '../image-failure.js';
import { readTrusted } from '../registry/registries-file.js';

/** The kubelet's configuration of credential providers, and the folder of their programs. */
export interface CredentialProviderPaths {
  readonly configFile: string;
  readonly binDirectory: string;
}

export const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';

const DURATION = { minMs: 0, maxMs: 366 * 24 * 60 * 60 * 1000 };

export const goDuration = z.pipe(
  z.string(),
  z.transform((text: string, { issues }) => {
    try {
      return parseDuration(text, DURATION);
    } catch {
      const params = { wanted: 'a duration such as 12h or 10m30s' };
      issues.push({ code: 'custom', input: text, message: 'no duration', params });
      return z.NEVER;
    }
  }),
);

/** A string of the given form. `noun` has no article, and names the form in a refusal. */
function textOf(form: RegExp, noun: string) {
  const params = { wanted: `a ${noun}` };
  const error = `no ${noun}`;
  return z.string().check(z.refine((text) => form.test(text), { error, params }));
}

/** Name of a file in `binDirectory`. */
const programName = textOf(/^(?!\.\.?$)[\w.-]+$/, 'file name without folders');
const variable = z.strictObject({
  name: textOf(/^[^=\0]+$/, 'name of a variable'),
  value: textOf(/^[^\0]*$/, 'string without NUL'),
});
const provider = z.strictObject({
  name: programName,
  matchImages: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  defaultCacheDuration: goDuration,
  apiVersion: z.literal(PROTOCOL),
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(variable)),
});
const configuration = z.strictObject({
  apiVersion: textOf(/^kubelet\.config\.k8s\.io\/v1/, 'version such as kubelet.config.k8s.io/v1'),
  kind: z.literal('CredentialProviderConfig'),
  providers: z.array(provider).check(z.minLength(1)),
});

export interface CredentialProvider extends z.infer<typeof provider> {
  readonly file: string;
}

/** Returns an empty list if there is no file. The file must be trusted, because it names programs to run. @throws AgentError `imageFailed`. */
export async function readProviders(
  { configFile, binDirectory }: CredentialProviderPaths,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<readonly CredentialProvider[]> {
  const text = await readTrusted(configFile, trust);
  if (text === undefined) return [];
  const yaml = readYaml(configuration, text, 'it');
  if ('found' in yaml) {
    const { found, wanted = 'a CredentialProviderConfig of the kubelet' } = yaml;
    const message = `cannot read ${quoteText(configFile)}: ${found}; wanted ${wanted}`;
    throw new AgentError('imageFailed', message);
  }
  const { providers } = yaml.value;
  return providers.map((each) => ({ ...each, file: fileOf(each.name, binDirectory) }));
}

function fileOf(name: string, folder: string): string {
  if (!path.isAbsolute(folder))
    throw imageFailed('use credential providers', 'a relative folder', 'an absolute path');
  const ending = process.platform === 'win32' && path.extname(name) === '' ? '.exe' : '';
  return path.join(folder, name + ending);
}

/** Follows the kubelet: equal port, equal number of host labels (with `*` and `?`), and a prefix of the path. */
export function matchesImage(pattern: string, image: string): boolean {
  const wanted = partsOf(pattern.replace(/^https?:\/\//, ''));
  const found = partsOf(image);
  return (
    wanted.port === found.port &&
    wanted.labels.length === found.labels.length &&
    wanted.labels.every((label, index) => glob(label).test(found.labels[index] ?? '')) &&
    found.path.startsWith(wanted.path)
  );
}

function partsOf(text: string): { labels: readonly string[]; port: string; path: string } {
  const [, host = '', port = '', path = ''] = /^([^/]*?)(?::(\d+))?(\/.*)?$/.exec(text) ?? [];
  return { labels: host.toLowerCase().split('.'), port, path };
}

function glob(label: string): RegExp {
  const escaped = label.replace(/[\\^$.+()[\]{}|]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
}

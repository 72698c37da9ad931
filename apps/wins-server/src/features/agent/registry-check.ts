import type { AskedRegistry, ImageCheck } from '@wins/system-agent';
import { escapeText, EXIT, UsageError, type Answer } from '@wins/base';
import { baseConfig } from '../../configuration/config-loader.js';
import { isOff } from '../../kernel/feature.js';
import { agentSettings } from './agent-settings.js';
import { thisSystem } from '../../this-system.js';
import { safeLines } from '../../client/safe-lines.js';

export interface RegistryCheckOptions {
  readonly config?: string | undefined;
  readonly image: string;
}

/** `wins srv registry check`. Exits with 1 when no source has the image. */
export async function checkRegistry({ config, image }: RegistryCheckOptions): Promise<Answer> {
  const loaded = await baseConfig.load(config);
  // Treat the agent as switched on, so that the check works even if the config switches the agent off.
  const off = { localEnabled: false, remoteEnabled: false, preserveWorkDirectory: false };
  const systemAgent = { ...off, ...loaded.config.systemAgent, localEnabled: true };
  const settings = agentSettings({ ...loaded.config, systemAgent });
  if (isOff(settings)) throw new UsageError(`cannot check ${image}: ${settings.reason}`);
  const trust = thisSystem().fileTrust();
  const { checkImage, checkOptions, referenceFault } = await import('./registry-options.js');
  const fault = referenceFault(image);
  if (fault !== undefined) throw new UsageError(fault);
  const check = await checkImage(image, checkOptions(settings, trust));
  const isFound = check.isInArchive || check.registries.some(({ result }) => result === 'ok');
  for (const warning of check.warnings)
    process.stderr.write(`wins: warning: ${escapeText(warning)}\n`);
  return {
    exitCode: isFound ? EXIT.server.ok : EXIT.server.imageMissing,
    value: { found: isFound, ...check },
    text: textOf(check, isFound),
    table: {
      headings: ['RESULT', 'URL', 'REPOSITORY', 'MIRROR OF', 'TRUST', 'LOGIN', 'FAILURE'],
      drops: ['REPOSITORY', 'MIRROR OF', 'TRUST', 'LOGIN'],
      rows: check.registries.map((one) => [
        one.result,
        one.url,
        one.repository,
        one.mirrorOf,
        one.trust,
        loginOf(one),
        one.failure,
      ]),
    },
    names: check.registries.filter(({ result }) => result === 'ok').map(({ url }) => url),
  };
}

function textOf({ image, isInArchive, registriesFile, registries }: ImageCheck, isFound: boolean) {
  const found = isInArchive ? 'found in an archive of the node' : 'found in a registry';
  return safeLines([
    `${image}: ${isFound ? found : 'not found'}`,
    registriesFile === '' ? 'there is no registries.yaml' : `registries: ${registriesFile}`,
    ...registries.flatMap((registry, index) => [
      `${index + 1}. ${registry.url}/${registry.repository}: ${WORDS[registry.result]}`,
      ...detailsOf(registry).map((line) => `   ${line}`),
    ]),
  ]);
}

const WORDS = { ok: 'has it', failed: 'failed', notAsked: 'not asked' };

function detailsOf(registry: AskedRegistry): string[] {
  const { mirrorOf, rewrittenBy, proxy, trust, failure } = registry;
  return [
    mirrorOf === '' ? 'the registry itself' : `by mirrors.${mirrorOf}`,
    ...(rewrittenBy === '' ? [] : [`name rewritten by ${rewrittenBy}`]),
    ...(proxy === '' ? [] : [`proxy: ${proxy}`]),
    `trust: ${trust}`,
    `login: ${loginOf(registry)}`,
    ...(failure === '' ? [] : [failure]),
  ];
}

function loginOf({ login, isLoginShown }: AskedRegistry): string {
  if (login === '') return 'none';
  return isLoginShown ? login : `${login} (not required)`;
}

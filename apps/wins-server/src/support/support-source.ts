import { ConfigError, maskedSettings, type ConfigProblem, type LoadedConfig } from '@wins/config';
import { messageOf } from '@wins/base';
import { loadStartConfig } from '../load-daemon-config.js';
import { pipeOfConfig } from '../client/running-daemon.js';
import type { DoctorHost } from '../kernel/doctor-host.js';
import type { Reported } from '../kernel/conditions/condition.js';
import { addressWithoutSecrets, cleanerOf, knownSecrets } from './cleaner.js';

export interface SupportSource {
  readonly named: string | undefined;
  /** Config with which a daemon would start now: the file or, if that is unusable, its stored copy. */
  readonly loaded: LoadedConfig | undefined;
  /** Why the file is unusable, without its content; undefined if it is usable. */
  readonly fault: string | undefined;
  readonly listen: string;
  readonly host: DoctorHost;
  /** Removes the secrets of the config and the environment from a text. */
  readonly clean: (text: string) => string;
}

/** Accepts an unusable config, because that may be the reason for the support bundle. */
export async function supportSource(
  named: string | undefined,
  host: DoctorHost,
): Promise<SupportSource> {
  try {
    const { loaded, refused } = await loadStartConfig(named);
    const { config } = loaded;
    const clean = cleanerOf(knownSecrets(config));
    const fault = refused && faultOf(refused);
    return { named, loaded, fault, listen: config.listen, host, clean };
  } catch (error) {
    const fault = faultOf(error);
    const listen = await pipeOfConfig(named).catch(() => pipeOfConfig(undefined));
    const clean = cleanerOf(knownSecrets(undefined));
    return { named, loaded: undefined, fault, listen, host, clean };
  }
}

/** Returns only the positions of problems, because their messages quote the file, which may contain secrets. */
function faultOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return messageOf(error);
  const problems = error.problems.map((problem) => JSON.stringify(withoutQuotes(problem)));
  return [`the config cannot be used: ${error.code}`, ...problems].join('\n');
}

/** Replaces the texts of findings about an unusable config, which quote the file. */
export function withoutQuotedConfig<Finding extends Reported>(
  findings: readonly Finding[],
  found: string,
): readonly Finding[] {
  return findings.map((one) => (one.check === 'config' ? { ...one, found } : one));
}

/** Removes secrets. The declaration of each key decides whether its value is shown. */
export function maskedConfig({ config, path, found, origins, warnings }: LoadedConfig): object {
  return {
    file: path,
    found,
    setInFile: origins.filter(({ origin }) => origin !== 'default').map(({ key }) => key),
    warnings: warnings.map(withoutQuotes),
    config: maskedSettings(config, addressWithoutSecrets),
  };
}

function withoutQuotes({ code, severity, line, column }: ConfigProblem): object {
  return { severity, code, line, column };
}

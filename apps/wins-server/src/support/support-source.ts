import { ConfigError, maskedSettings, type ConfigProblem, type LoadedConfig } from '@wins/config';
import { messageOf } from '@wins/base';
import { loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { pipeOfConfig } from '../commands/running-daemon.js';
import type { DoctorHost } from '../doctor/doctor-host.js';
import { addressWithoutSecrets } from './cleaner.js';

export interface SupportSource {
  readonly named: string | undefined;
  /** Config that would take effect now; undefined when the file is unusable. */
  readonly loaded: LoadedConfig | undefined;
  /** Why the file is unusable, without its content. */
  readonly fault: string | undefined;
  readonly listen: string;
  readonly host: DoctorHost;
}

/** Locates the daemon. Never rejects for an unusable config, because that may be why a support bundle is made. */
export async function supportSource(named: string | undefined, host: DoctorHost) {
  try {
    const loaded = await loadDaemonConfig(named);
    return { named, loaded, fault: undefined, listen: loaded.config.listen, host };
  } catch (error) {
    const fault = faultOf(error);
    const listen = await pipeOfConfig(named).catch(() => pipeOfConfig(undefined));
    return { named, loaded: undefined, fault, listen, host };
  }
}

/** Returns the text of a fault. Problem messages quote file content, which may be secret, so only their positions are returned. */
function faultOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return messageOf(error);
  const places = error.problems.map((problem) => JSON.stringify(problemPlace(problem)));
  return [`the config cannot be used: ${error.code}`, ...places].join('\n');
}

/** Returns a config without its secrets; the declarations of the keys decide which values are shown. */
export function maskedConfig({ config, path, found, origins, warnings }: LoadedConfig): object {
  return {
    file: path,
    found,
    setInFile: origins.filter(({ origin }) => origin !== 'default').map(({ key }) => key),
    warnings: warnings.map(problemPlace),
    config: maskedSettings(config, addressWithoutSecrets),
  };
}

/** Returns the location of a problem, without the content found there. */
function problemPlace({ code, severity, line, column }: ConfigProblem): object {
  return { severity, code, line, column };
}

import { maskedSettings, type ConfigProblem, type LoadedConfig } from '@wins/config';
import { addressWithoutSecrets } from '../features/support-bundle/cleaner.js';

/** A config as it may be shown to those who help: the keys of the file declare how. */
export function maskedConfig({ config, path, found, origins, warnings }: LoadedConfig): object {
  return {
    file: path,
    found,
    setInFile: origins.filter(({ origin }) => origin !== 'default').map(({ key }) => key),
    warnings: warnings.map(problemPlace),
    config: maskedSettings(config, addressWithoutSecrets),
  };
}

/** Where a problem is, without what was found there. */
export function problemPlace({ code, severity, line, column }: ConfigProblem): object {
  return { severity, code, line, column };
}

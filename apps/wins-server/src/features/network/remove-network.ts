import { existsSync } from 'node:fs';
import { loadStoppedConfig } from '../../configuration/config-loader.js';
import { stateDirectoryOf } from '../../kept-directory.js';
import { thisSystem } from '../../this-system.js';
import { recordFileIn } from './network-settings.js';

/**
 * Removes everything that the daemon with this config added to the host's network. An uninstallation calls it after stopping the daemon.
 *
 * @returns The reason why something stays; undefined when nothing is left.
 * @throws ConfigError when the config cannot be read, because only the config tells where the list of added items is.
 */
export async function removeNetwork(
  configFile: string,
  load: () => Promise<typeof import('./start-network.js')> = () => import('./start-network.js'),
): Promise<string | undefined> {
  const { listen } = await loadStoppedConfig(configFile);
  const recordFile = recordFileIn(stateDirectoryOf(listen));
  if (!existsSync(recordFile)) return undefined;
  const warnings: string[] = [];
  await using started = await (
    await load()
  ).startNetwork(
    {
      recordFile,
      trust: thisSystem().fileTrust(),
      beforeSteps: () => Promise.resolve(),
      onStatus: () => undefined,
      onSource: () => undefined,
      onWarning: (problem) => warnings.push(problem),
    },
    { routes: [], keep: [] },
  );
  const { problems } = await started.kept.teardown();
  return problems.length === 0 ? undefined : [...problems, ...warnings].join('; ');
}

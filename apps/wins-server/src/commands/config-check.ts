import { defaultConfigPath } from '@wins/config';
import { escapeJson, escapeText, EXIT, type CommandSurroundings } from '@wins/wins-program';
import { doubtfulEntries } from '../configuration/allowed-executables.js';
import { explainMigration } from '../configuration/explain-migration.js';
import { loadCopiedConfig, loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { thisSystem } from '../this-system.js';

export interface CheckOptions {
  readonly config?: string | undefined;
  readonly lenient: boolean;
  readonly 'content-only': boolean;
  readonly 'explain-migration': boolean;
}

/**
 * `wins srv config check`: the effective config with the origin of each value, or everything that is
 * wrong with the file, or what a config of an earlier release may lack. An unknown key is an error here, unless the file is to be judged as the daemon judges it when it starts.
 */
export async function checkConfig(
  options: CheckOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const file = options.config ?? defaultConfigPath();
  const isCopied = options['content-only'];
  const load = isCopied ? loadCopiedConfig : loadDaemonConfig;
  const { config, found, origins, warnings } = await load(file, { strict: !options.lenient });
  if (isCopied && !found) {
    process.stderr.write(
      `${escapeText(file)}: no such file; wanted the config that will be copied\n`,
    );
    return EXIT.server.config;
  }
  if (options['explain-migration']) {
    process.stdout.write(escapeJson(explainMigration(config)));
  } else {
    const value = { file, found, values: origins, warnings };
    await show({ value, text: describeValues(file, found, origins) });
  }
  for (const { message } of warnings) process.stderr.write(`${message}\n`);
  const { tellsClientsApart } = await thisSystem();
  for (const { message } of doubtfulEntries(config, tellsClientsApart)) {
    process.stderr.write(`${message}\n`);
  }
  return EXIT.server.ok;
}

function describeValues(
  file: string,
  found: boolean,
  origins: Awaited<ReturnType<typeof loadDaemonConfig>>['origins'],
): string {
  const lines = origins.map(({ key, value }) => escapeJson(`${key}: ${JSON.stringify(value)}`));
  const width = Math.max(...lines.map((line) => line.length));
  const values = origins.map(({ origin }, index) => {
    const place = origin === 'default' ? 'default' : `line ${origin.line}`;
    return `${(lines[index] ?? '').padEnd(width)}  # ${place}\n`;
  });
  const head = `# ${escapeText(file)}${found ? '' : ' (no such file: all defaults)'}\n`;
  return [head, ...values].join('');
}

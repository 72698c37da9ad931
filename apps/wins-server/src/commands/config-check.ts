import { escapeJson, escapeText, EXIT, type Answer, type CommandSurroundings } from '@wins/base';
import {
  ConfigError,
  configJsonSchema,
  explainMigration,
  type ConfigProblem,
  type LoadedConfig,
} from '@wins/config';
import type { ConfigReload } from '@wins/wins-api';
import { configFileOf, loadDaemonConfig } from '../load-daemon-config.js';
import { askRunningDaemon, type RunningDaemonOptions } from '../client/running-daemon.js';

export interface CheckOptions {
  readonly config?: string | undefined;
  readonly output?: string | undefined;
  readonly lenient: boolean;
  readonly 'content-only': boolean;
  readonly 'explain-migration': boolean;
  /** System of the node that uses the config. Default: this system. */
  readonly platform?: 'windows' | 'linux' | undefined;
}

/** `wins srv config check`: strict by default; with --lenient, as lenient as the daemon is at its start. */
export async function checkConfig(options: CheckOptions, { show }: CommandSurroundings) {
  const { platform } = options;
  let loaded: LoadedConfig;
  try {
    loaded = await loadDaemonConfig(options.config, {
      strict: !options.lenient,
      isCopy: options['content-only'],
      ...(platform !== undefined && { platform: platform === 'windows' ? 'win32' : platform }),
    });
  } catch (error) {
    // Only programs read this record; people read the error on standard error.
    if (error instanceof ConfigError && options.output !== 'text') {
      const file = configFileOf(options.config);
      const found = error.code !== 'notFound';
      const problems = error.problems.map(problemRecord);
      // A problem of the whole file has no key.
      const names = problems.map(({ key }) => key).filter((key) => key !== '');
      await show({ value: { file, found, valid: false, problems }, names });
    }
    throw error;
  }
  if (options['explain-migration']) {
    process.stdout.write(escapeJson(explainMigration(loaded.config)));
  } else {
    const { path: file, found, origins: values, warnings } = loaded;
    const value = { file, found, valid: true, problems: warnings.map(problemRecord), values };
    const names = values.filter(({ origin }) => origin !== 'default').map(({ key }) => key);
    await show({ value, text: describeValues(loaded), table: tableOf(loaded), names });
  }
  for (const { message } of loaded.warnings) process.stderr.write(`wins: warning: ${message}\n`);
  return EXIT.server.ok;
}

function problemRecord({ severity, code, keyPath, line, column, ...words }: ConfigProblem) {
  const { found, expected, nextStep, message } = words;
  return {
    severity,
    code,
    key: keyPath,
    ...(line !== undefined && { line, column }),
    found,
    expected,
    nextStep,
    message,
  };
}

function tableOf({ origins }: LoadedConfig) {
  const rows = origins.map(({ key, value, origin }) => [
    key,
    value === undefined ? '' : JSON.stringify(value),
    locationOf(origin),
  ]);
  return { headings: ['KEY', 'VALUE', 'FROM'], rows };
}

function describeValues({ path, found, origins }: LoadedConfig): string {
  const lines = origins.map(({ key, value }) =>
    value === undefined ? `# ${key} is not set` : escapeJson(`${key}: ${JSON.stringify(value)}`),
  );
  const width = Math.max(...lines.map((line) => line.length));
  const values = origins.map(({ value, origin }, index) => {
    const line = lines[index] ?? '';
    return value === undefined ? `${line}\n` : `${line.padEnd(width)}  # ${locationOf(origin)}\n`;
  });
  return [`# ${escapeText(path)}${found ? '' : ' (no such file: all defaults)'}\n`, ...values].join(
    '',
  );
}

function locationOf(origin: LoadedConfig['origins'][number]['origin']): string {
  return origin === 'default' ? 'default' : `line ${origin.line}`;
}

export function printSchema(_options: unknown): Answer {
  return { value: configJsonSchema(), isForReaders: true };
}

export interface ReloadOptions extends RunningDaemonOptions {
  readonly 'allow-drop': readonly string[];
}

/** `wins srv config reload`: a file with errors leaves the previous config in force, and the exit code is 78. */
export async function reloadConfig(options: ReloadOptions, { show }: CommandSurroundings) {
  const answer = await askRunningDaemon(options, (client, signal) =>
    client.config.reload({ signal, allowDrop: options['allow-drop'] }),
  );
  await show({ value: valueOf(answer), text: textOf(answer), names: answer.changed });
  for (const { severity, message } of answer.problems)
    process.stderr.write(`wins: ${severity}: ${escapeText(message)}\n`);
  return answer.rejected ? EXIT.server.config : EXIT.server.ok;
}

function textOf({ rejected, changes, needRestart, ...answer }: ConfigReload): string {
  const file = escapeText(answer.file);
  if (rejected) return `cannot use ${file}: the previous config stays in force\n`;
  const what =
    changes.length === 0
      ? 'nothing changed'
      : `changed:\n${changes.map((line) => `  ${escapeText(line)}`).join('\n')}`;
  const restart =
    needRestart.length === 0
      ? ''
      : `effective after a restart of the daemon: ${escapeText(needRestart.join(', '))}\n`;
  return `${file} is in force; ${what}\n${restart}`;
}

function valueOf({ rejected, ...answer }: ConfigReload) {
  return { ...answer, valid: !rejected };
}

import type { ConfigReload } from '@wins/wins-api';
import { escapeText, EXIT, type CommandSurroundings } from '@wins/base';
import { askRunningDaemon, type RunningDaemonOptions } from './running-daemon.js';

export interface ReloadOptions extends RunningDaemonOptions {
  readonly 'allow-drop': readonly string[];
}

/** `wins srv config reload`: for a file with faults the previous config stays in force, and the exit code is 78. */
export async function reloadConfig(
  options: ReloadOptions,
  { show }: CommandSurroundings,
): Promise<number> {
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

function valueOf({ problems, rejected, ...answer }: ConfigReload) {
  const shown = problems.map(({ line, column, message, nextStep, ...problem }) => ({
    ...problem,
    ...(line > 0 && { line, column }),
    ...{ message, nextStep },
  }));
  return { ...answer, valid: !rejected, problems: shown };
}

import type { ConfigReloadResponse } from '@wins/wins-api';
import { escapeText, EXIT, type CommandSurroundings } from '@wins/base';
import { askRunningDaemon, type RunningDaemonOptions } from './running-daemon.js';

export interface ReloadOptions extends RunningDaemonOptions {
  readonly 'allow-drop': readonly string[];
}

/**
 * `wins srv config reload`: has the running daemon read its config again, and says what changed, what needs a restart, or what is
 * wrong; then the config that was in force stays, and the exit code is 78.
 */
export async function reloadConfig(
  options: ReloadOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await askRunningDaemon(options, (client, signal) =>
    client.config.reload({ signal, allowDrop: options['allow-drop'] }),
  );
  await show({ value: valueOf(answer), text: textOf(answer), names: answer.Changed });
  for (const { Message } of answer.Problems) process.stderr.write(`${escapeText(Message)}\n`);
  return answer.Rejected ? EXIT.server.config : EXIT.server.ok;
}

function textOf({ File, Rejected, Changed, NeedRestart }: ConfigReloadResponse): string {
  const file = escapeText(File);
  if (Rejected) return `${file} cannot be used: the config that was in force stays\n`;
  const changed =
    Changed.length === 0 ? 'nothing changed' : `changed: ${escapeText(Changed.join(', '))}`;
  const restart =
    NeedRestart.length === 0
      ? ''
      : `takes effect when the daemon is restarted: ${escapeText(NeedRestart.join(', '))}\n`;
  return `${file} is in force; ${changed}\n${restart}`;
}

function valueOf({ File, Rejected, Changed, NeedRestart, Problems }: ConfigReloadResponse) {
  const problems = Problems.map(({ Severity, Code, Key, Line, Column, Message, NextStep }) => ({
    ...{ severity: Severity, code: Code, key: Key },
    ...(Line > 0 && { line: Line, column: Column }),
    ...{ message: Message, nextStep: NextStep },
  }));
  return { file: File, valid: !Rejected, changed: Changed, needRestart: NeedRestart, problems };
}

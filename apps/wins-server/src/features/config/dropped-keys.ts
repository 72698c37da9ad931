import { commandWord, describeLosses, escapeText, type GuardedKey } from '@wins/base';
import { ConfigError, defaultConfigPath } from '@wins/config';
import type { Kernel } from '../../kernel/feature.js';

/** Returns the command that accepts the loss of keys. */
export function howToDrop(file: string, keys: readonly GuardedKey[]): string {
  const option = file === defaultConfigPath() ? '' : ` --config ${commandWord(file)}`;
  const allowed = keys.map((key) => ` --allow-drop ${key}`).join('');
  return `wins srv config reload${option}${allowed}`;
}

export function droppedIn(error: unknown): readonly GuardedKey[] {
  if (!(error instanceof ConfigError)) return [];
  const dropped = error.problems.filter(({ code }) => code === 'dropped');
  return dropped.map(({ keyPath }) => keyPath as GuardedKey);
}

export function tellLost(
  keys: readonly GuardedKey[],
  file: string,
  { logger, events, audit }: Pick<Kernel, 'logger' | 'events' | 'audit'>,
): void {
  const nextStep = `put it back, or allow its removal: ${howToDrop(file, keys)}`;
  const facts = { keys, lost: describeLosses(keys), config: escapeText(file), nextStep };
  logger.warn(facts, 'the config lacks keys that were in force before this start');
  events.publish({ type: 'configLost', keys });
  audit.note('configLost', { keys });
}

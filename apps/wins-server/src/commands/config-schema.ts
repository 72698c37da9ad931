import { configJsonSchema } from '@wins/config';
import { EXIT, type CommandSurroundings } from '@wins/base';

export async function printSchema(
  _options: unknown,
  { show }: CommandSurroundings,
): Promise<number> {
  await show({ value: configJsonSchema(), isForReaders: true });
  return EXIT.server.ok;
}

import { configJsonSchema } from '@wins/config';
import { EXIT, type CommandSurroundings } from '@wins/base';

/** `wins srv config schema`: prints a JSON Schema of the config file, indented. */
export async function printSchema(
  _options: unknown,
  { show }: CommandSurroundings,
): Promise<number> {
  await show({ value: configJsonSchema(), isForReaders: true });
  return EXIT.server.ok;
}

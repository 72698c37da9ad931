import { configJsonSchema } from '@wins/config';
import { EXIT } from '@wins/wins-program';

/** `wins srv config schema`: a JSON Schema of the config file. */
export function printSchema(): Promise<number> {
  process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return Promise.resolve(EXIT.server.ok);
}

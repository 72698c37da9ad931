import { configJsonSchema } from '@wins/config';
import type { Answer } from '@wins/base';

export async function printSchema(_options: unknown): Promise<Answer> {
  return { value: configJsonSchema(), isForReaders: true };
}

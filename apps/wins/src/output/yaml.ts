import { escapeJson } from '@wins/base';
import { stringify } from 'yaml';

/** A value as YAML, each text of it in double quotes, where what a terminal would obey can be escaped. */
export function yamlOf(value: unknown): string {
  // What JSON leaves out, and makes of a date, is not said here either.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return escapeJson(
    stringify(plain, {
      ...{ defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', blockQuote: false },
      ...{ lineWidth: 0, aliasDuplicateObjects: false },
    }),
  );
}

import { escapeJson } from '@wins/base';
import { stringify } from 'yaml';

/** All strings are in double quotes, so that terminal control characters are escaped. */
export function yamlOf(value: unknown): string {
  // The conversion through JSON drops undefined fields and turns dates into strings, as the JSON output does.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return escapeJson(
    stringify(plain, {
      defaultStringType: 'QUOTE_DOUBLE',
      defaultKeyType: 'PLAIN',
      blockQuote: false,
      lineWidth: 0,
      aliasDuplicateObjects: false,
    }),
  );
}

import { readFileSync } from 'node:fs';
import { errnoOf, messageOf, parseDuration, quoteText } from '@wins/base';

// Unescaped, the right-to-left override would reverse the rest of the line.
console.log(`cannot run ${quoteText('report\u202Efdp.exe')}`);

try {
  parseDuration('25h', { minMs: 1, maxMs: 24 * 3_600_000 });
} catch (error) {
  console.log(`--wait-timeout: ${messageOf(error)}`);
}

try {
  readFileSync('/nowhere');
} catch (error) {
  console.log(errnoOf(error));
}

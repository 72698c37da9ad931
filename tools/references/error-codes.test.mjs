import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { errorCodes } from './error-codes.mjs';

/**
 * @param {string} text
 * @param {(folder: string) => void} use
 */
function withError(text, use) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-error-codes-'));
  try {
    writeFileSync(path.join(folder, 'some-error.ts'), text);
    use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const COMMENT = `/**
 * Reason.
 *
 * - \`busy\`: another call is in progress, which
 *   takes a while.
 *
 * Of a file:
 *
 * - \`gone\`, \`locked\`: no file, or no right.
 */
`;

test('the codes of a library are the bullets of the comment of its type', () => {
  withError(`${COMMENT}export type SomeErrorCode = 'busy' | ('gone' | 'locked');\n`, (folder) =>
    assert.equal(
      errorCodes(folder),
      '- `busy`: another call is in progress, which takes a while.\n- `gone`, `locked`: no file, or no right.',
    ),
  );
});

test('a code that the comment does not name is a fault', () => {
  withError(`${COMMENT}export type SomeErrorCode = 'busy' | 'gone' | 'late';\n`, (folder) =>
    assert.throws(() => errorCodes(folder), /the comment of SomeErrorCode lacks late/),
  );
});

test('a library without codes has no list', () => {
  withError('export type Other = 1;\n', (folder) => assert.equal(errorCodes(folder), undefined));
});

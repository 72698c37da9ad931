import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { windowsCommandLine } from './windows-process-start.js';
import { kernel32 } from '../win32/kernel32.js';
import { loadKoffi, systemLibrary } from '../win32/calls/system-library.js';

const koffi = loadKoffi();
// https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-commandlinetoargvw
const shell = systemLibrary('shell32.dll', 'Windows', [
  'void *CommandLineToArgvW(void *line, _Out_ int *count)',
]);

function systemParse(line: string): string[] {
  const count: [number] = [0];
  const list = shell.CommandLineToArgvW(Buffer.from(`${line}\0`, 'utf16le'), count);
  const pointers = koffi.decode(list, 'void *', count[0]) as bigint[];
  const read = pointers.map((text) => koffi.decode(text, 'char16_t', -1) as string);
  kernel32.LocalFree(list);
  return read;
}

describe('a command line', () => {
  it('is read back by the system as what it was made of', () => {
    const unit = fc.constantFrom('a', ' ', '\t', '"', '\\', '\n', 'ä', '\u{1f600}', '%', '^', "'");
    const args = fc.array(fc.string({ unit }));
    fc.assert(
      fc.property(args, (given) => {
        const line = windowsCommandLine('C:\\a b\\x.exe', given);
        assert.deepEqual(systemParse(line), ['C:\\a b\\x.exe', ...given]);
      }),
      { numRuns: 500 },
    );
  });
});

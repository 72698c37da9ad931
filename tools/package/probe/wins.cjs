// Prints the environment that a program sees inside an executable. With the argument `native` it calls Windows.
'use strict';
const { isSea } = require('node:sea');

const { argv, execPath } = process;
const seen = { argv, execPath, isSea: isSea(), refused: {} };
// OpenSSL reads its configuration when it is first used.
require('node:crypto').randomBytes(1);
if (argv[2] === 'native') {
  // @ts-expect-error -- It is inside the executable.
  const kernel32 = require('./koffi-win32-x64.node').load('kernel32.dll');
  seen.pid = kernel32.func('uint32 GetCurrentProcessId()')();
}
for (const name of ['./not-inside.cjs', 'koffi', 'ws']) {
  try {
    require(name);
  } catch (error) {
    seen.refused[name] = /** @type {NodeJS.ErrnoException} */ (error).code;
  }
}
process.stdout.write(JSON.stringify(seen));

// A program that says what an executable gives to the programs in it. With the argument `native` it calls Windows.
'use strict';
const { argv, execArgv, execPath, env } = process;
const seen = {
  argv,
  execArgv,
  execPath,
  nodeOptions: env.NODE_OPTIONS,
  tls: require('tls').DEFAULT_MIN_VERSION,
};
if (argv[2] === 'native') {
  const kernel32 = require('./koffi-win32-x64.node').load('kernel32.dll');
  seen.pid = kernel32.func('uint32 GetCurrentProcessId()')();
}
for (const name of ['./not-inside.cjs', 'koffi', 'ws']) {
  try {
    require(name);
  } catch (error) {
    (seen.refused ??= {})[name] = error.code ?? error.message;
  }
}
process.stdout.write(JSON.stringify(seen));

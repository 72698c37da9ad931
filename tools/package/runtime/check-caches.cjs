// node check-caches.cjs FOLDER NAME…
// Fails if V8 rejects the code cache of one of the wrapped programs in FOLDER. Runs with the flags of the executable, which are V8's own.
'use strict';
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { Script } = require('node:vm');

const [, , folder, ...names] = process.argv;
for (const name of names) {
  const file = path.join(folder, name);
  const cachedData = readFileSync(`${file}.cache`);
  const script = new Script(readFileSync(file, 'utf8'), { filename: name, cachedData });
  if (script.cachedDataRejected) throw new Error(`V8 rejects the code cache of ${name}`);
}

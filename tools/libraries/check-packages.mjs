// node tools/libraries/check-packages.mjs
// Packs the libraries and lets publint and "are the types wrong?" judge what would be published. The libraries must be built.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packLibraries } from './pack-libraries.mjs';

// A resolution that knows no "exports" is that of Node 10 and of nothing that these packages run on.
const RESOLUTIONS_LEFT_OUT = ['node10'];

const problems = [];
for (const { name, stage, tarball } of packLibraries()) {
  const manifest = JSON.parse(readFileSync(`${stage}/package.json`, 'utf8'));
  const bytes = readFileSync(tarball);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { messages } = await publint({ strict: true, pack: { tarball: data } });
  for (const message of messages) problems.push(`${name}: ${formatMessage(message, manifest)}`);
  const verdict = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
  if (!verdict.types) {
    problems.push(`${name}: has no types`);
    continue;
  }
  for (const problem of verdict.problems)
    if (!('resolutionKind' in problem && RESOLUTIONS_LEFT_OUT.includes(problem.resolutionKind)))
      problems.push(`${name}: ${JSON.stringify(problem)}`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

// Judges configs of wins before they reach a node: node config-linter.mjs FILE...
import { readFile } from 'node:fs/promises';
import { ConfigError, parseConfig, type ConfigProblem } from '@wins/config';

/** Annotations of GitHub Actions escape line breaks, and in a property also the characters that end it. */
const escaped = (text: string, characters = /[%\r\n]/g): string =>
  text.replace(characters, (one) => encodeURIComponent(one));

function print({ severity, file, line = 1, column = 1, keyPath, ...problem }: ConfigProblem): void {
  const text = `${keyPath}: found ${problem.found}, expected ${problem.expected}; ${problem.nextStep}`;
  console.log(
    `::${severity} file=${escaped(file, /[%\r\n:,]/g)},line=${line},col=${column}::${escaped(text)}`,
  );
}

for (const fileName of process.argv.slice(2)) {
  try {
    // The nodes may run another system than this program.
    const options = { fileName, platform: 'win32', strict: true } as const;
    const { warnings } = parseConfig(await readFile(fileName), options);
    warnings.forEach(print);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    error.problems.forEach(print);
    process.exitCode = 1;
  }
}

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const USAGE = `npm run bench -- [--only PATTERN] [--rounds N] [--quick] [--json] [--against FILE]

  --only PATTERN   only rows whose names match this regular expression, in any case
  --rounds N       rounds of most rows; default 5
  --quick          a tenth of the work; shows only failures and large differences
  --json           every round as JSON on standard output; tables go to standard error
  --against FILE   compares with the run that --json left in FILE

docs/performance.md explains the numbers.`;

export class UsageError extends Error {}

/**
 * @param names - Names of all rows.
 * @throws {UsageError}
 */
export function readOptions(args, names) {
  const { only, quick, json, against, help, rounds } = parse(args);
  if (help) return { help };
  const pattern = patternOf(only);
  if (!names.some((name) => pattern.test(name)))
    throw new UsageError(`--only ${only} matches none of these rows:\n  ${names.join('\n  ')}`);
  if (!/^[1-9]\d*$/.test(rounds))
    throw new UsageError(`--rounds ${rounds}: wanted a whole number from 1`);
  const before = against === undefined ? undefined : readRun(against);
  if (before && before.quick !== quick)
    throw new UsageError(
      `cannot compare with ${against}: it was measured ${before.quick ? 'with' : 'without'} --quick; measure both runs the same way`,
    );
  return { quick, json, before, wants: (name) => pattern.test(name), rounds: Number(rounds) };
}

const messageOf = (error) => (error instanceof Error ? error.message : String(error));

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string', default: '' },
        rounds: { type: 'string', default: '5' },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        against: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

function patternOf(only) {
  try {
    return new RegExp(only, 'i');
  } catch (error) {
    throw new UsageError(`--only ${only} is not a regular expression: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function readRun(file) {
  let run;
  try {
    run = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read --against ${file}: ${messageOf(error)}`, { cause: error });
  }
  if (!Array.isArray(run?.rows) || !run.rows.every((row) => Array.isArray(row?.ways)))
    throw new UsageError(`--against ${file} is not output of --json: it has no rows with ways`);
  return run;
}

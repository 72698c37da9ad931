import {
  findPlaces,
  readResult,
  UpgradeError,
  UpgradeLog,
  type Around,
  type UpgradeErrorCode,
  type UpgradeOutcome,
} from '@wins/service-upgrade';
import { escapeText, EXIT, messageOf, VERSION } from '@wins/wins-program';
import { parseCommandLine, type UpgradeCommand } from './command-line.js';
import { composeUpgrade } from './compose-upgrade.js';
import { enterRun } from './enter-run.js';
import { sweepHelpers } from './helper-process.js';
import { COMPLETIONS, USAGE } from './options.js';
import { upgrade, type CommandOutcome } from './upgrade-command.js';
import { decidedByRun } from './upgrade-in-run.js';

const { ok, usage, refused, rolledBack, failed, busy } = EXIT.upgrade;
const EXIT_OF: Readonly<Record<UpgradeOutcome | 'handedOver', number>> = {
  ...{ upgraded: ok, nothing: ok, handedOver: ok },
  ...{ refused, rolledBack, failed },
};
const EXIT_OF_ERROR: Readonly<Partial<Record<UpgradeErrorCode, number>>> = { usage, refused, busy };
const COMPLETION_REQUEST = '--get-yargs-completions';

/**
 * Runs `wins up`.
 *
 * @param argv - Words after `wins`, as they were typed.
 * @param around - Sees every effect. Default: nobody does.
 * @returns The exit code, one of those of `EXIT.upgrade`.
 */
export async function run(argv: readonly string[], around?: Around): Promise<number> {
  // First of all: what the environment says in a run is a client's.
  const inside = enterRun();
  if (inside === undefined && argv[0] === COMPLETION_REQUEST) return print(COMPLETIONS);
  // The reader may go away.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  let command: UpgradeCommand | undefined;
  try {
    const said = parseCommandLine(argv, inside !== undefined);
    command = inside === undefined ? said : { ...said, ...decidedByRun(inside, said) };
    if (command.show === 'help') return print(USAGE);
    if (command.show === 'version') return print(`rancher-wins version ${VERSION}\n`);
    if (command.show === 'result') return await showResult(command, inside !== undefined);
    if (command.sweep) {
      await sweepHelpers(await composeUpgrade({ ...command, log: new UpgradeLog() }));
      return ok;
    }
    return report(await upgrade(command, inside !== undefined, around), command);
  } catch (error) {
    const code = error instanceof UpgradeError ? error.code : undefined;
    const reason = messageOf(error);
    if (command?.json ?? argv.includes('--json')) {
      const outcome = code === 'refused' ? 'refused' : 'failed';
      print(`${JSON.stringify({ id: command?.id, outcome, reason })}\n`);
    } else if (inside !== undefined || !argv.includes('--quiet')) complain(`wins: ${reason}`);
    if (inside === undefined && argv.includes('--debug') && error instanceof Error) {
      complain(error.stack ?? '');
    }
    return (code && EXIT_OF_ERROR[code]) ?? failed;
  }
}

function report(outcome: CommandOutcome, { json, quiet }: UpgradeCommand): number {
  if (outcome.outcome === 'planned') {
    print(json ? `${JSON.stringify(outcome)}\n` : outcome.text);
    return outcome.exitCode;
  }
  const exitCode = EXIT_OF[outcome.outcome];
  const text = `wins: ${outcome.outcome}: ${outcome.reason}`;
  if (json) print(`${JSON.stringify(outcome)}\n`);
  else if (!quiet && exitCode === ok) print(`${printable(text)}\n`);
  else if (!quiet) complain(text);
  return exitCode;
}

/** `wins up --show-result`: the result file. When there is none, programs and clients of a daemon get `null`, and people are told. */
async function showResult(command: UpgradeCommand, inRun: boolean): Promise<number> {
  const { service } = await composeUpgrade({ ...command, log: new UpgradeLog() });
  const places = await findPlaces(service);
  const result = await readResult(places);
  if (result !== undefined) return print(result);
  if (command.json || inRun) return print('null\n');
  if (!command.quiet) {
    complain(
      `wins: there is no result: no upgrade of the service ${service.name} has ended here; wanted ${places.result}`,
    );
  }
  return ok;
}

function print(text: string): number {
  process.stdout.write(text);
  return ok;
}

function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

function printable(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line))
    .join('\n');
}

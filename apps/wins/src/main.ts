/**
 * The program `wins`: picks the application that a command belongs to and loads only that one.
 */
import { EXIT, quoteText, RUN_MARKER_VARIABLE, VERSION } from '@wins/wins-program';
import { completionScript } from './completion-script.js';
import { normalizeArgv } from './go-style-argv.js';
import { loadApplication, loadUpgradeHelper } from './load-application.js';
import { COMMANDS, COMPLETION_USAGE, USAGE } from './usage.js';

/** What yargs' completion scripts call the program with. */
const COMPLETION_REQUEST = '--get-yargs-completions';

/** Only the upgrade helper knows which words its options take, so it reads what was typed. */
const UPGRADE = new Set<string | undefined>(['up', 'upgrade']);

async function run(typedArgv: readonly string[]): Promise<number> {
  // In a run this program is the upgrade helper, whatever the words say: a client of the pipe chose them, and the helper judges them.
  if (process.env[RUN_MARKER_VARIABLE] !== undefined) return loadUpgradeHelper().run(typedArgv);
  if (typedArgv[0] === COMPLETION_REQUEST) return complete(typedArgv);
  const argv = normalizeArgv(typedArgv);
  const words = argv.filter((word) => !word.startsWith('-'));
  const [command] = words;
  const isUpgrade = UPGRADE.has(command);
  if (command !== undefined && !isUpgrade && !hasWorkingDirectory()) {
    return refuse('the working directory does not exist any more; change to one that does');
  }
  const application = loadApplication(command);
  if (application !== undefined) return application.run(isUpgrade ? typedArgv : argv);
  if (argv.includes('--version') || argv.includes('-v')) {
    return print(`rancher-wins version ${VERSION}\n`);
  }
  if (command === 'completion') {
    if (argv.includes('--help') || argv.includes('-h')) return print(COMPLETION_USAGE);
    const script = completionScript(words[1] ?? process.env['SHELL'] ?? 'powershell');
    if (script !== undefined) return print(script);
    return refuse(
      `there is no completion script for ${quoteText(words[1] ?? '')}: choose bash, zsh or powershell`,
    );
  }
  if (command === undefined || command === 'help') return print(USAGE);
  return refuse(
    `there is no command ${quoteText(command)}: choose cli, srv, up, doctor or completion (see wins --help)`,
  );
}

/** Prints what may follow. @param argv - The request, the program, the words typed and the word being typed. */
async function complete(argv: readonly string[]): Promise<number> {
  const application = loadApplication(argv[2]);
  return application === undefined ? print(COMMANDS) : application.run(argv);
}

/** Without one, what reads most command lines fails. */
function hasWorkingDirectory(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.client.ok;
}

function refuse(reason: string): number {
  process.stderr.write(`wins: ${reason}\n`);
  return EXIT.client.failed;
}

void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

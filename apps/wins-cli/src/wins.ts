/**
 * The program `wins`: picks the application that a command belongs to and loads only that one.
 */
import { EXIT, quoteText, RUN_MARKER_VARIABLE, VERSION } from '@wins/wins-program';
import { normalizeArgv } from './options/go-style-argv.js';
import { completionScript } from './completion-script.js';

interface Application {
  readonly run: (argv: readonly string[]) => Promise<number>;
}

/** What yargs' completion scripts call the program with. */
const COMPLETION_REQUEST = '--get-yargs-completions';

const USAGE = `wins: operates the Windows host from inside a Windows container

Usage: wins [--debug] [--quiet] <command>

Commands:
  wins cli          talks to the daemon      (alias: client)
  wins srv          runs the daemon          (alias: server)
  wins up           upgrades the daemon      (alias: upgrade)
  wins doctor       examines this host and the daemon on it; changes nothing
  wins completion   prints a script that completes commands: bash, zsh or powershell

Options:
  --help, -h        says this, or more of a command:  wins cli prc run --help
  --version, -v     says which release this is
  --debug           logs more
  --quiet           logs nothing
`;

const COMPLETION_USAGE = `wins completion: prints a script that makes a shell complete commands and options

Usage: wins completion [bash|zsh|powershell]     default: the shell that $SHELL names, else powershell
`;

// Beside this file once everything is bundled; an import would be resolved while it is built.
/* eslint-disable @typescript-eslint/no-require-imports */
function load(command: string | undefined): Application | undefined {
  switch (command) {
    case 'srv':
    case 'server':
    case 'doctor':
      return require('./wins-server.cjs') as Application;
    case 'cli':
    case 'client':
      return require('./wins-cli.cjs') as Application;
    case 'up':
    case 'upgrade':
      return loadUpdater();
    default:
      return undefined;
  }
}

function loadUpdater(): Application {
  return require('./wins-upgrade.cjs') as Application;
}

/* eslint-enable @typescript-eslint/no-require-imports */

/** The updater. Which words an option takes only it knows, so it reads what was typed. */
const UP = new Set<string | undefined>(['up', 'upgrade']);

/** Without one, what reads most command lines fails. */
function hasWorkingDirectory(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}

async function run(typedArgv: readonly string[]): Promise<number> {
  // The helper is this program, whole, and in a run the words are those of whoever has the pipe: the updater judges them.
  if (process.env[RUN_MARKER_VARIABLE] !== undefined) return loadUpdater().run(typedArgv);
  const isCompletion = typedArgv[0] === COMPLETION_REQUEST;
  const argv = isCompletion ? typedArgv : normalizeArgv(typedArgv);
  const words = argv.filter((word) => !word.startsWith('-'));
  const isUp = !isCompletion && UP.has(words[0]);
  if (isCompletion) {
    // The shell asks what may follow: words are [program, …typed, the word being typed].
    const typed = argv.slice(2);
    const application = load(typed[0]);
    if (application !== undefined) return application.run(argv);
    process.stdout.write('cli\nsrv\nup\ndoctor\ncompletion\n');
    return EXIT.client.ok;
  }
  if (words[0] !== undefined && !isUp && !hasWorkingDirectory()) {
    process.stderr.write(
      'wins: the working directory does not exist any more; change to one that does\n',
    );
    return EXIT.client.failed;
  }
  const application = load(words[0]);
  if (application !== undefined) return application.run(isUp ? typedArgv : argv);
  if (argv.includes('--version') || argv.includes('-v')) {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return EXIT.client.ok;
  }
  if (words[0] === 'completion') {
    if (argv.includes('--help') || argv.includes('-h')) {
      process.stdout.write(COMPLETION_USAGE);
      return EXIT.client.ok;
    }
    const script = completionScript(words[1] ?? process.env['SHELL'] ?? 'powershell');
    if (script !== undefined) {
      process.stdout.write(script);
      return EXIT.client.ok;
    }
    process.stderr.write(
      `wins: there is no completion script for ${quoteText(words[1] ?? '')}: choose bash, zsh or powershell\n`,
    );
    return EXIT.client.failed;
  }
  if (words[0] === undefined || words[0] === 'help') {
    process.stdout.write(USAGE);
    return EXIT.client.ok;
  }
  process.stderr.write(
    `wins: there is no command ${quoteText(words[0])}: choose cli, srv, up, doctor or completion (see wins --help)\n`,
  );
  return EXIT.client.failed;
}

void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

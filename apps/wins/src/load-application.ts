/** An application of wins: one bundle beside this one. */
export interface Application {
  /** Runs a command: words after `wins`. Gives the exit code. */
  readonly run: (argv: readonly string[]) => Promise<number>;
}

// The bundles lie beside this one; an import would be resolved while they are built.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the application that a command belongs to; undefined when there is none. */
export function loadApplication(command: string | undefined): Application | undefined {
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
      return loadUpgradeHelper();
    default:
      return undefined;
  }
}

/** Loads `wins up`. */
export function loadUpgradeHelper(): Application {
  return require('./wins-upgrade.cjs') as Application;
}

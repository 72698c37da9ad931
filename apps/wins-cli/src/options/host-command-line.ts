import type { Argv } from 'yargs';
import { withDaemonOptions, withOutputOption, type Handle } from './command-options.js';

function withChoice<T>(parser: Argv<T>, what: string) {
  return withOutputOption(
    withDaemonOptions(
      parser
        .option('name', { type: 'string', describe: `Name of the ${what}` })
        .option('address', { type: 'string', describe: `An address of the ${what}` }),
    ),
  );
}

function withAddresses<T>(parser: Argv<T>) {
  return withDaemonOptions(
    parser.option('addresses', {
      type: 'string',
      demandOption: 'which addresses? name them with --addresses "8.8.8.8 2001:db8::1"',
      describe: 'Hosts and networks: "8.8.8.8 10.1.0.0/16 2001:db8::1"',
    }),
  );
}

/** Adds the commands about the host itself: hst, net, hns and route. */
export function withHostCommands<T extends { readonly quiet: boolean }>(
  cli: Argv<T>,
  handle: Handle,
) {
  const load = () => import('../commands/host-calls.js');
  return cli
    .command(['hst', 'host'], 'The system of the host', (hst) =>
      hst
        .command(
          'get-version',
          'Print the version of the operating system of the host',
          (version) => withOutputOption(withDaemonOptions(version)),
          handle(async () => (await load()).showVersion),
        )
        .demandCommand(1, 1, 'a command is missing: get-version'),
    )
    .command(['net', 'network'], 'Network adapters of the host', (net) =>
      net
        .command(
          'get',
          'Describe an adapter; without a choice, the one with the default route',
          (get) => withChoice(get, 'adapter'),
          handle(async () => (await load()).showAdapter),
        )
        .demandCommand(1, 1, 'a command is missing: get'),
    )
    .command('hns', 'Networks of the Host Networking Service', (hns) =>
      hns
        .command(
          'get-network',
          'Describe a network',
          (get) => withChoice(get, 'network'),
          handle(async () => (await load()).showHnsNetwork),
        )
        .demandCommand(1, 1, 'a command is missing: get-network'),
    )
    .command('route', 'The routing table of the host', (route) =>
      route
        .command(
          'add',
          'Route addresses through the gateway of the default adapter',
          (add) => withAddresses(add),
          handle(async () => (await load()).addRoutes),
        )
        .command(
          'ls',
          'List the routes',
          (ls) => withOutputOption(withDaemonOptions(ls)),
          handle(async () => (await load()).listRoutes),
        )
        .command(
          'rm',
          'Remove the routes that add created',
          (rm) => withAddresses(rm),
          handle(async () => (await load()).removeRoutes),
        )
        .demandCommand(1, 1, 'a command is missing: add, ls or rm'),
    );
}

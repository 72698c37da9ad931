// node tools/windows/acceptance.mjs [FILE …]
// Checks transcripts of tools/windows-acceptance.ps1 and stores them in docs/acceptance; `npm run generate` writes their results into
// docs/windows.md. Defines the statements that the script tests on real Windows.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';

const TRANSCRIPTS = path.resolve(import.meta.dirname, '../../docs/acceptance');
const FORM = 'wins-windows-acceptance/1';

/** Name of each probe and the statement that it tests, in order of the tests. The script has a function `Probe-NAME` for each. */
export const PROBES = {
  serviceRegisters:
    'the service is registered with a delayed start and a config in a folder with blanks in its name',
  failureActions: 'failure actions restart the service after 5, 10 and 15 s',
  failureFlag: 'an exit with an error counts as a failure',
  startIsDelayed: 'the start is delayed',
  preshutdownTime: 'the preshutdown time is 45 s',
  serviceStarts: 'the service starts',
  doctorIsWell: '`wins doctor` finds nothing wrong',
  onCall: '`wins status` is well, and `wins logs` reads the log of the service',
  pipesAreClosed: 'only Administrators and SYSTEM may open the pipes',
  userIsRefused: 'a user without privileges cannot open the main pipe, nor that of administrators',
  administratorHere:
    'an administrator can use the pipe of administrators from the script: in Windows session 0 over SSH or WinRM, in another at a console or RDP',
  secondDaemon: 'a second daemon on the pipe ends with an error, and the first is unharmed',
  firewallRules: 'firewall rules appear for `--exposes`, and go at the end',
  firewallOff:
    'where the firewall is off, a run with `--exposes` starts with a warning and no rule',
  runsAreFound: '`Win32_Process` finds runs by `rancher-wins-` in their command lines',
  detachedRuns:
    'a detached run outlives the service, and only Administrators and SYSTEM may open the pipe of its keeper',
  routes:
    '`route add`, twice, and `route rm`, of a host and of a network, as `Get-NetRoute` sees them',
  hnsNetworks: '`hns get-network` agrees with `Get-HnsNetwork`',
  containerNetwork:
    'Windows lists the HNS network with its gateway, filters and forwarding; after a teardown and a restart of HNS it lists none of them',
  oddPaths: 'junctions, `subst` drives, short names and device paths are refused, listed or not',
  etwProvider: 'a string that is written through an ETW provider reaches a session',
  containerOwner: 'who owns a file that a container copies to the host',
  containerPipes: 'which accounts of a process-isolated container can open which mounted pipe',
  killedService: 'a killed service takes its tree with it, and comes back',
  upgradeFromOutside: 'an upgrade from outside replaces the program of the service',
  upgradeBack: 'an operator goes back to the older release, with other arguments',
  registrationStays: 'nobody changes the registration through the daemon',
  upgradeThroughDaemon: 'an upgrade through the daemon outlives it',
  upgradeByClient: '`wins cli upgrade` says that it is done',
  upgradeFolder: 'nobody else may use the folder of upgrades',
  heldProgram:
    'after an upgrade of a program that another process has locked, the service still serves',
  eventsAreReadable: 'texts in the event log are readable',
  wrongConfig:
    'a wrong config ends in event 7024 of the service control manager, and not in a hang',
  installDryRun: '`wins install --dry-run` changes nothing',
  installInTime: '`wins install`: the service answers in time (no error 1053)',
  installedOwners:
    'administrators own config and folders, nobody else may use them, and nothing is inherited',
  machinePath: 'the PATH of the machine keeps its type, and has each folder once',
  sucDependency: '`wins suc` makes rke2 depend on the service, and removes that dependency',
  sucRestarts:
    '`wins suc` restarts the daemon while a running rke2 depends on it, and restores that dependency, also after an earlier `wins suc` was killed midway',
  nodeJoins: 'the node joins, and leaves the root store alone unless it is asked',
  hostProcessImage: 'a HostProcess container finds the program of its image by its name',
  uninstall: '`wins uninstall` leaves the machine as it was',
  scriptRefuses:
    'wins-agent-install.ps1 runs no program whose digest differs, and contacts no address that contains a user or a quote',
  scriptInstalls: 'wins-agent-install.ps1 installs, and leaves the session of its user as it was',
  scriptUninstalls: 'wins-agent-uninstall.ps1 takes all of it away',
};

/** Statements that a person tests. The person adds the results to a transcript. */
export const BY_HAND = {
  containerLimits:
    'a container of `wins-subnet` reaches the gateway and the containers of a peer, and neither 169.254.169.254 nor another address of the host; a restart of the node leaves nothing in HNS',
  farGateway:
    '`hostNetwork` routes of a host with a /32 are applied if only a host route (`0.0.0.0 if N`) reaches their gateway, or if they name the interface; `Find-NetRoute` agrees',
  windowsSuite:
    'the whole suite without Wine, by `node tools/windows/run-specs.mjs`: exclusive names, enforced access lists, routes, firewall',
  dockerStop: '`docker stop` of a container that runs `wins cli proxy` is heard',
  containerTrust: 'the client trusts the pipe of the host from inside a container',
  helperWithoutBreakAway:
    'an upgrade helper in a run whose entry lacks `mayBreakAway` reports this and ends with 65; with the key, the helper outlives the daemon',
  upWhileHanging:
    '`wins up` while the daemon hangs: failure actions do not get in the way of ending it by force after `--wait`',
  upWhileDependent:
    '`wins up` fails while a service runs that depends on wins; the message names the reason, and the daemon still serves',
  chartOnCluster:
    'the chart on a cluster: what is mounted, the mounted pipe after a restart of the daemon, the change from a Go daemon',
  powerOff: 'power off during `wins up`, ten times: the service comes up, its program is whole',
};

const word = z.string().max(200);
const probe = z.strictObject({
  name: z.enum([...Object.keys(PROBES), ...Object.keys(BY_HAND)]),
  result: z.enum(['ok', 'failed', 'skipped']),
  /** Reason of a failure or a skip. */
  why: z.string().max(2000),
  /** Observations by name. */
  seen: z.record(word, z.string().max(2000)),
});

/** One run of the script on one Windows system. */
export const transcript = z
  .strictObject({
    form: z.literal(FORM),
    date: z.iso.datetime(),
    system: z.strictObject({ caption: word, version: word, powershell: word, session: word }),
    wins: z.strictObject({ version: word, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    probes: z.array(probe),
  })
  .superRefine(({ probes }, context) => {
    for (const name of Object.keys({ ...PROBES, ...BY_HAND })) {
      const times = probes.filter((one) => one.name === name).length;
      if (times > 1 || (times === 0 && name in PROBES))
        context.addIssue({ code: 'custom', message: `${name} is there ${times} times` });
    }
  });

/**
 * Returns the stored transcripts, oldest first.
 *
 * @throws Zod's error if a transcript is invalid.
 */
export function filedTranscripts(folder = TRANSCRIPTS) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readTranscript(path.join(folder, name)))
    .sort((a, b) => a.date.localeCompare(b.date));
}

/** Returns a table (a row for each statement, a column for each transcript), and the observations; without transcripts a sentence. */
export function acceptanceTable(transcripts) {
  const statements = Object.entries({ ...PROBES, ...BY_HAND }).map(([name, what]) => [
    name,
    what,
    name in PROBES ? `\`${name}\`` : 'by hand',
  ]);
  if (transcripts.length === 0)
    return (
      `No transcript of a real Windows is filed yet: none of the ${Object.keys(PROBES).length} probes of the script was tried there, and none of the ` +
      `${Object.keys(BY_HAND).length} statements that a person tests. [acceptance.mjs](../tools/windows/acceptance.mjs) lists both (\`PROBES\`, \`BY_HAND\`).`
    );
  const row = (...cells) => `| ${cells.join(' | ')} |`;
  const systems = transcripts.map(
    ({ system, date }) => `${cell(system.caption)} ${cell(system.version)}, ${date.slice(0, 10)}`,
  );
  const ofAll = (name) => transcripts.map((one) => resultOf(one, name));
  const rows = statements.map(([name, what, probe]) => row(what, probe, ...ofAll(name)));
  const summary = `${transcripts.length} transcripts of real systems are filed in docs/acceptance.`;
  const head = row('to be checked on a real node', 'probe', ...systems);
  const line = row(...Array(2 + systems.length).fill('---'));
  return [`${summary}\n\n${[head, line, ...rows].join('\n')}`, ...transcripts.flatMap(seenBy)].join(
    '\n\n',
  );
}

function resultOf({ probes }, name) {
  const found = probes.find((one) => one.name === name);
  if (found === undefined) return 'not tried';
  const { result, why, seen } = found;
  if (result !== 'ok') return `${result}: ${cell(why)}`.slice(0, 160);
  return Object.keys(seen).length === 0 ? 'ok' : 'ok, see below';
}

function seenBy({ system, wins, probes }) {
  const lines = probes.flatMap(({ name, seen }) =>
    Object.entries(seen).map(([what, value]) => `- \`${name}\`: ${cell(what)}: ${cell(value)}`),
  );
  const by = `${cell(system.caption)} ${cell(system.version)}, ${cell(wins.version)}`;
  return lines.length === 0
    ? []
    : [`Seen on ${by}, in session ${cell(system.session)}:`, lines.join('\n')];
}

/** Escapes foreign text, so that it adds neither markup nor cells to a table. */
function cell(text) {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|]/g, '\\$&');
}

function readTranscript(file) {
  // Windows PowerShell may write a byte order mark.
  return transcript.parse(JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const file of process.argv.slice(2)) {
    const read = readTranscript(file);
    const name = `${read.date.slice(0, 10)}-${read.system.version.replace(/[^\w.]/g, '')}.json`;
    mkdirSync(TRANSCRIPTS, { recursive: true });
    writeFileSync(path.join(TRANSCRIPTS, name), `${JSON.stringify(read, null, 2)}\n`);
    const failed = read.probes.filter(({ result }) => result === 'failed').length;
    console.log(`docs/acceptance/${name}: ${read.probes.length} probes, ${failed} failed`);
  }

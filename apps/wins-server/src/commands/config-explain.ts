import { findConfigKeys, configKeys, type ConfigKey } from '@wins/config';
import type { ConfigEntry, WinsClient } from '@wins/wins-api';
import { EXIT, quoteText, UsageError, type Answer } from '@wins/base';
import { judgeStartHere } from '../configuration/allowed-executables.js';
import { loadDaemonConfig } from '../load-daemon-config.js';
import {
  portVerdict,
  programVerdict,
  relaysOf,
  type ExplainedRelay,
  type SubjectVerdict,
} from '../configuration/subject-verdict.js';
import { thisSystem } from '../this-system.js';
import { askRunningDaemon } from '../client/running-daemon.js';
import { safeLines } from '../client/safe-lines.js';

export interface ExplainOptions {
  readonly config?: string | undefined;
  /** Config key in any spelling, or the end of one, such as `sha256`. */
  readonly key?: string | undefined;
  readonly path?: string | undefined;
  readonly sha256?: string | undefined;
  readonly port?: number | undefined;
  /** Pipe of the daemon that answers the question. Absent: this process answers from the config file. */
  readonly server?: string | undefined;
}

const NEXT_STEP: Readonly<Record<string, string>> = {
  'port-not-listed': 'add it to white_list.proxyPorts',
  callerNotAllowed: 'add the caller to "for" of the entry if it is legitimate',
  checksumMismatch: 'deploy the same file on both sides',
  notSigned: 'have the program signed with a certificate in upgrade.signedBy',
  digestNotPinned: 'add the digest to "sha256" of the entry if the file is legitimate',
  notExecutable: 'reinstall the program, or make it executable',
  notFound: 'install it',
  pathNotAllowed: 'add it to white_list.processPaths',
  pathNotTrusted: 'move it to a folder that only administrators can write, and list its real path',
};

/** `wins srv config explain`: exits with 126 if the program or port is not allowed. The exit code for a port ignores the UDP verdict. */
export async function explainConfig(options: ExplainOptions): Promise<Answer> {
  const { key, path, sha256, port, server } = options;
  const chosen = [key, path, port].filter((choice) => choice !== undefined);
  if (chosen.length > 1)
    throw new UsageError('KEY, --path and --port exclude each other; pass one of them');
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 2 ** 16))
    throw new UsageError(`--port ${port} is not a port; wanted 1 to 65535`);
  if (path !== undefined || port !== undefined) {
    const what = path ?? `port ${port}`;
    return verdictAnswer(what, await verdictOf(options), server !== undefined);
  }
  if (sha256 !== undefined || server !== undefined) {
    const found = sha256 !== undefined ? '--sha256 without --path' : '--server alone';
    throw new UsageError(`found ${found}; wanted --path PROGRAM or --port N`);
  }
  return keysAnswer(key);
}

export function listConfigKeys(): Promise<readonly (readonly [string, string])[]> {
  return Promise.resolve(configKeys().map(({ key, meaning }) => [key, meaning] as const));
}

/** The daemon names the entry only to administrators. */
const NO_ENTRY: ConfigEntry = { key: '', file: '' };

interface Explained extends SubjectVerdict {
  readonly udp?: SubjectVerdict | undefined;
  readonly relays?: readonly ExplainedRelay[];
}

async function verdictOf(options: ExplainOptions): Promise<Explained> {
  const { path, sha256, port = 0, server } = options;
  if (server !== undefined) {
    const subject = path === undefined ? { port } : { path, sha256 };
    const ask = (client: WinsClient, signal: AbortSignal) =>
      client.config.explain(subject, { signal });
    // Uses the clients' pipe, because the verdict depends on the caller.
    const {
      udp,
      entry = NO_ENTRY,
      ...verdict
    } = await askRunningDaemon(options, ask, {
      pipe: 'main',
    });
    return { ...verdict, entry, udp: udp && { ...udp, entry: udp.entry ?? NO_ENTRY } };
  }
  const loaded = await loadDaemonConfig(options.config);
  if (path === undefined) return { ...portVerdict(port, loaded), relays: relaysOf(port, loaded) };
  const host = thisSystem().processHost();
  return programVerdict(await judgeStartHere({ path, sha256 }, loaded.config, host), true, loaded);
}

function verdictAnswer(what: string, verdict: Explained, isFromDaemon: boolean): Answer {
  const { allowed, code, reason, entry, udp, relays = [] } = verdict;
  // The daemon's reason already says how to allow an unlisted path.
  const isSaid = allowed || (isFromDaemon && code === 'pathNotAllowed');
  const nextStep = isSaid ? undefined : NEXT_STEP[code];
  const lines = [
    `${what}: ${allowed ? 'allowed' : 'not allowed'}`,
    `  by ${entryText(entry)}`,
    ...(reason === '' ? [] : [`  ${reason}`]),
    ...(nextStep === undefined ? [] : [`  → ${nextStep}`]),
    ...(udp === undefined ? [] : [`  UDP: ${udpText(udp)}`]),
    ...relays.map((one) => `  relayed: ${one.relay} by ${entryText(one.entry)}`),
  ];
  return {
    exitCode: allowed ? EXIT.server.ok : EXIT.server.notAllowed,
    value: {
      subject: what,
      allowed,
      code,
      reason,
      ...(nextStep && { nextStep }),
      entry,
      ...(udp && { udp }),
      ...(relays.length > 0 && { relays }),
    },
    text: safeLines(lines),
    names: entry.key === '' ? [] : [entry.key],
  };
}

function udpText({ allowed, reason, entry }: SubjectVerdict): string {
  return allowed ? `allowed by ${entryText(entry)}` : `not allowed: ${reason}`;
}

function entryText({ key, file, line }: ConfigEntry): string {
  const at = line === undefined ? '' : `, line ${line}`;
  return `${key === '' ? 'no entry' : key}${file === '' ? '' : ` of ${file}${at}`}`;
}

function keysAnswer(key: string | undefined): Answer {
  const { keys, nearest } = key === undefined ? { keys: configKeys() } : findConfigKeys(key);
  if (keys.length === 0) {
    const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    throw new UsageError(
      `there is no key ${quoteText(key ?? '')}; "wins srv config explain" lists all keys${meant}`,
    );
  }
  const width = Math.max(...keys.map((one) => one.key.length));
  const text =
    key === undefined
      ? keys.map((one) => `${one.key.padEnd(width)}  ${one.meaning}\n`).join('')
      : keys.map(describeKey).join('\n');
  return {
    value: keys.map(keyRecord),
    text,
    table: { headings: ['KEY', 'MEANING'], rows: keys.map(({ key, meaning }) => [key, meaning]) },
    names: keys.map((one) => one.key),
  };
}

function keyRecord({ absent, ...key }: ConfigKey) {
  return { ...key, ...(absent !== undefined && { absent }) };
}

function describeKey({ key, meaning, type, absent, since, spellings, ...rest }: ConfigKey): string {
  const value = rest.default;
  const byDefault = absent ?? (value === undefined ? 'not set' : JSON.stringify(value));
  const [spelling = '', ...others] = spellings;
  const also = others.length === 0 ? '' : `; also ${others.join(', ')}, with a warning`;
  return [
    key,
    `  ${meaning}`,
    `  type:     ${type}`,
    `  default:  ${byDefault}`,
    `  since:    ${since}`,
    `  spelling: ${spelling}${also}`,
    '',
  ].join('\n');
}

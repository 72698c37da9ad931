import { readBytes, replaceFile, writePendingFile } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ServiceState, StateOf } from '../item/item.js';
import type { NodeRooms } from '../ports.js';
import type { Around } from '../run/install-context.js';

/** A service of the node, with what Windows keeps of it in its registry. */
export interface FolderService extends ServiceState {
  readonly dependencies: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly isBeingRemoved?: true;
}

/** The state that Windows keeps in its registry and its stores: here one JSON file. */
export interface FolderSystem {
  readonly path: string;
  readonly services: Readonly<Record<string, FolderService>>;
  readonly certificates: Readonly<Record<string, string>>;
  readonly eventSources: readonly string[];
  readonly winHttpProxy?: StateOf<'winHttpProxy'>;
}

/** Starts and stops what services name. */
export interface ServiceRunner {
  /** Waits for the end of one that was told to stop. */
  start(name: string, service: FolderService): Promise<void>;
  stop(name: string): Promise<void>;
  /** Also of one that was told to stop and has not ended yet. */
  isRunning(name: string): boolean;
  /** Whether it was told to stop and has not ended yet. Absent: none is. */
  isStopping?(name: string): boolean;
}

const EMPTY: FolderSystem = { path: '/usr/bin', services: {}, certificates: {}, eventSources: [] };

type SystemRooms = Omit<NodeRooms, 'folder' | 'file'>;

/** The rooms for all but files and folders. Each write replaces the JSON file as one durable act. */
export function posixSystem(file: string, runner: ServiceRunner, around: Around): SystemRooms {
  const change = (effect: string, changed: Partial<FolderSystem>): Promise<void> =>
    around(effect, () =>
      replaceFile(file, `${JSON.stringify({ ...readSystem(file), ...changed }, null, 2)}\n`),
    );
  const changeService = (name: string, service: Partial<FolderService>): Promise<void> => {
    const { services } = readSystem(file);
    const before = services[name];
    if (before === undefined) throw new Error(`cannot change the service ${name}: found none`);
    return change('change service', {
      services: { ...services, [name]: { ...before, ...service } },
    });
  };
  const service = (name: string): FolderService | undefined => readSystem(file).services[name];
  return {
    pathElement: {
      read: (item) => presence(elements(file).some((each) => each === item.path)),
      write: async (item, state) => {
        const all = readSystem(file).path;
        const isThere = elements(file).includes(item.path);
        if (isThere === (state !== undefined)) return;
        const added = all === '' ? item.path : `${all}:${item.path}`;
        const without = elements(file).filter((each) => each !== item.path);
        await change('write PATH', { path: state === undefined ? without.join(':') : added });
      },
    },
    certificate: {
      read: ({ sha256 }) => presence(readSystem(file).certificates[sha256] !== undefined),
      write: async ({ sha256 }, state, content) => {
        const { [sha256]: _gone, ...others } = readSystem(file).certificates;
        if (state === undefined) return change('write root store', { certificates: others });
        const der = await contentIn(content, sha256);
        return change('write root store', {
          certificates: { ...others, [sha256]: der.toString('base64') },
        });
      },
      keep: ({ sha256 }, to) =>
        writeNew(to, Buffer.from(readSystem(file).certificates[sha256] ?? '', 'base64')),
    },
    winHttpProxy: {
      read: () => Promise.resolve(readSystem(file).winHttpProxy),
      write: async (_item, state) => {
        const { winHttpProxy: _gone, ...others } = readSystem(file);
        const system = state === undefined ? others : { ...others, winHttpProxy: state };
        await around('write WinHTTP', () =>
          replaceFile(file, `${JSON.stringify(system, null, 2)}\n`),
        );
      },
    },
    eventSource: {
      read: ({ name }) => presence(readSystem(file).eventSources.includes(name)),
      write: ({ name }, state) => {
        const others = readSystem(file).eventSources.filter((each) => each !== name);
        const eventSources = state === undefined ? others : [...others, name];
        return change('write event sources', { eventSources });
      },
    },
    service: {
      read: ({ name }) => {
        const found = service(name);
        const { command, startType } = found ?? {};
        return Promise.resolve(command && startType ? { command, startType } : undefined);
      },
      write: async ({ name }, state) => {
        const { [name]: before, ...others } = readSystem(file).services;
        if (state !== undefined) {
          const made = { dependencies: [], environment: {}, ...before, ...state };
          return change('register service', { services: { ...others, [name]: made } });
        }
        if (before === undefined) return;
        if (runner.isRunning(name)) await around('stop service', () => runner.stop(name));
        await change('remove service', { services: others });
      },
    },
    variable: {
      read: ({ service: of, name }) => {
        const value = service(of)?.environment[name];
        return Promise.resolve(value === undefined ? undefined : { sha256: digestOf(value) });
      },
      write: async ({ service: of, name }, state, content) => {
        const { [name]: _gone, ...others } = service(of)?.environment ?? {};
        if (state === undefined) {
          if (service(of) !== undefined) await changeService(of, { environment: others });
          return;
        }
        const value = (await contentIn(content, state.sha256)).toString('utf8');
        await changeService(of, { environment: { ...others, [name]: value } });
      },
      keep: ({ service: of, name }, to) =>
        writeNew(to, Buffer.from(service(of)?.environment[name] ?? '')),
    },
    dependency: {
      read: ({ service: of, on }) => presence(service(of)?.dependencies.includes(on) === true),
      write: async ({ service: of, on }, state) => {
        const others = service(of)?.dependencies.filter((each) => each !== on);
        if (others === undefined && state === undefined) return;
        const dependencies = [...(others ?? []), ...(state === undefined ? [] : [on])];
        await changeService(of, { dependencies });
      },
    },
    running: {
      read: ({ service: name }) => presence(runner.isRunning(name)),
      write: async ({ service: name }, state) => {
        const found = service(name);
        const runs = runner.isRunning(name);
        if (state === undefined ? !runs : runs && runner.isStopping?.(name) !== true) return;
        if (state === undefined) {
          requireNoDependents(file, name, runner);
          return around('stop service', () => runner.stop(name));
        }
        if (found === undefined) throw new Error(`cannot start the service ${name}: found none`);
        await around('start service', () => runner.start(name, found));
      },
    },
  };
}

/** The whole system as it is on the disk. */
export function readSystem(file: string): FolderSystem {
  if (!existsSync(file)) return EMPTY;
  return { ...EMPTY, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<FolderSystem>) };
}

function elements(file: string): readonly string[] {
  return readSystem(file).path.split(':');
}

function presence(isThere: boolean): Promise<'present' | undefined> {
  return Promise.resolve(isThere ? 'present' : undefined);
}

/** As the service manager of Windows: what others that run depend on does not stop. */
function requireNoDependents(file: string, name: string, runner: ServiceRunner): void {
  for (const [other, { dependencies }] of Object.entries(readSystem(file).services)) {
    if (dependencies.includes(name) && runner.isRunning(other)) {
      throw new Error(
        `cannot stop the service ${name}: found that ${other} depends on it and runs`,
      );
    }
  }
}

async function contentIn(content: string | undefined, sha256: string): Promise<Buffer> {
  const bytes = await readBytes(content ?? '', { maxBytes: 1024 * 1024 });
  if (digestOf(bytes) === sha256) return bytes;
  throw new Error('found another digest than was planned');
}

async function writeNew(to: string, bytes: Buffer): Promise<void> {
  await writePendingFile(`${to}.kept`, { mode: 0o600 }, (write) => write(bytes, 0), to);
}

function digestOf(value: string | Buffer): string {
  return createHash('sha256').update(value).digest('hex');
}

import { readBytes, replaceFile, writePendingFile } from '@wins/trusted-files';
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { itemId, type Item, type ItemKind, type StateOf } from '../item/item.js';
import { contentOf } from '../item/step.js';
import type { ItemStores, ItemStore } from '../ports.js';
import type { Around } from '../install-context.js';

export interface FolderService extends StateOf<'service'> {
  readonly dependencies: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Holds in one JSON file what Windows keeps in its registry and certificate stores. */
export interface FolderSystem {
  readonly services: Readonly<Record<string, FolderService>>;
  /** By `itemId`; content is base64. */
  readonly things: Readonly<Record<string, { readonly state: StateOf; readonly content?: string }>>;
}

export interface ServiceRunner {
  /** If the service is still stopping, first waits for its end. */
  start(name: string, service: FolderService): Promise<void>;
  stop(name: string): Promise<void>;
  /** True also for a stopping service. */
  isRunning(name: string): boolean;
  /** Whether the service is ending after `stop`. Absent: never. */
  isStopping?(name: string): boolean;
}

const EMPTY: FolderSystem = { services: {}, things: {} };

type SystemStores = Omit<ItemStores, 'folder' | 'file'>;

/** Each write replaces the JSON file durably and atomically. */
export function posixSystem(file: string, runner: ServiceRunner, around: Around): SystemStores {
  const system = (): FolderSystem => readSystem(file);
  const service = (name: string): FolderService | undefined => system().services[name];
  // JSON omits undefined values, so an undefined item is removed.
  const change = (effect: string, changed: Partial<Record<keyof FolderSystem, unknown>>) =>
    around(effect, () =>
      replaceFile(file, `${JSON.stringify({ ...system(), ...changed }, null, 2)}\n`),
    );
  const changeService = async (
    name: string,
    changed: Partial<Record<keyof FolderService, unknown>>,
  ) => {
    const before = service(name);
    if (before === undefined) throw new Error(`cannot change the service ${name}: found none`);
    const services = { ...system().services, [name]: { ...before, ...changed } };
    await change('change service', { services });
  };
  const things = <K extends ItemKind>(): ItemStore<K> => ({
    read: (item) => {
      const found = system().things[itemId(item as Item)];
      return Promise.resolve(found?.state as StateOf<K> | undefined);
    },
    write: async (item, state, content) => {
      const sha256 = contentOf(item as Item, state as StateOf | undefined);
      const bytes = sha256 === undefined ? undefined : await contentIn(content, sha256);
      const made = state && { state, content: bytes?.toString('base64') };
      const changed = { ...system().things, [itemId(item as Item)]: made };
      await change(`write ${item.kind}`, { things: changed });
    },
    keep: (item, to) => {
      const found = system().things[itemId(item as Item)];
      return writeNew(to, Buffer.from(found?.content ?? '', 'base64'));
    },
  });
  return {
    pathElement: things(),
    certificate: things(),
    winHttpProxy: things(),
    eventSource: things(),
    service: {
      read: ({ name }) => {
        const { command, startType } = service(name) ?? {};
        return Promise.resolve(command && startType ? { command, startType } : undefined);
      },
      write: async ({ name }, state) => {
        const before = service(name);
        if (before === undefined && state === undefined) return;
        if (state === undefined && runner.isRunning(name))
          await around('stop service', () => runner.stop(name));
        const made = state && { dependencies: [], environment: {}, ...before, ...state };
        const effect = state === undefined ? 'remove service' : 'register service';
        await change(effect, { services: { ...system().services, [name]: made } });
      },
    },
    variable: {
      read: ({ service: of, name }) => {
        const value = service(of)?.environment[name];
        return Promise.resolve(value === undefined ? undefined : { sha256: digestOf(value) });
      },
      write: async ({ service: of, name }, state, content) => {
        const found = service(of);
        if (found === undefined && state === undefined) return;
        const value = state && (await contentIn(content, state.sha256)).toString('utf8');
        await changeService(of, { environment: { ...found?.environment, [name]: value } });
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
        const runs = runner.isRunning(name);
        if (state === undefined) {
          if (!runs) return;
          requireNoDependents(system(), name, runner);
          return around('stop service', () => runner.stop(name));
        }
        if (runs && runner.isStopping?.(name) !== true) return;
        const found = service(name);
        if (found === undefined) throw new Error(`cannot start the service ${name}: found none`);
        await around('start service', () => runner.start(name, found));
      },
    },
  };
}

export function readSystem(file: string): FolderSystem {
  if (!existsSync(file)) return EMPTY;
  return { ...EMPTY, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<FolderSystem>) };
}

function presence(isThere: boolean): Promise<'present' | undefined> {
  return Promise.resolve(isThere ? 'present' : undefined);
}

/** Refuses to stop a service that a running one needs, as Windows does. */
function requireNoDependents(system: FolderSystem, name: string, runner: ServiceRunner): void {
  for (const [other, { dependencies }] of Object.entries(system.services)) {
    if (!dependencies.includes(name) || !runner.isRunning(other)) continue;
    throw new Error(`cannot stop the service ${name}: found that ${other} depends on it and runs`);
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
  return hash('sha256', value, 'hex');
}

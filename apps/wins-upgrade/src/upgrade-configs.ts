import {
  ConfigError,
  ConfigHistory,
  defaultConfigPath,
  forgetDeliveries,
  loadConfig,
  parseConfig,
  readReplaced,
} from '@wins/config';
import {
  configFileOf,
  type Effects,
  type ServiceStatus,
  type UpgradeConfigs,
  type UpgradeHost,
  type UpgradeLog,
} from '@wins/service-upgrade';
import { openRegularFile, readWhole, replaceFile, unlessNotFound } from '@wins/trusted-files';
import { hash } from 'node:crypto';

const MAX_BYTES = 2 ** 21;

interface Parts {
  readonly host: UpgradeHost;
  readonly effects: Effects;
  readonly log: UpgradeLog;
}

/** Saves the config of the daemon before an upgrade in the history of the config file, and restores it from there. */
export function upgradeConfigs({ host, effects, log }: Parts): UpgradeConfigs {
  return {
    save: async (status) => {
      const found = await configOfDaemon(status, host);
      if (found === undefined) return undefined;
      const { file, bytes, pipe } = found;
      const history = new ConfigHistory(file, host.trust);
      const add = () => history.add('before', bytes);
      await effects.onFile('keep config', 'save the config in', history.folder, add);
      return { file, sha256: digestOf(bytes), ...(pipe !== undefined && { pipe }) };
    },
    restore: async ({ file, sha256 }) => {
      const history = new ConfigHistory(file, host.trust);
      const before = await history.newest('before').catch(() => undefined);
      if (before?.bytes === undefined || before.sha256 !== sha256) return undefined;
      const { bytes } = before;
      const found = await read(file);
      if (found !== undefined && digestOf(found.bytes) === sha256) return undefined;
      log.write('restoring the config', { file, keptIn: history.folder });
      const change = <T>(effect: string, action: () => Promise<T>): Promise<T> =>
        effects.onFile(effect, 'restore the config', file, action);
      const aside =
        found && (await change('keep new config', () => history.add('aside', found.bytes)));
      await change('restore config', () => replaceFile(file, bytes, found?.rights));
      const rest = aside === undefined ? '' : `; the replaced file is kept as ${aside}`;
      return `the config ${file} was restored${rest}`;
    },
    forgetReplaced: (file) => effects.run('forget replaced configs', () => forgetDeliveries(file)),
  };
}

/** Returns the content that the config file had when the daemon started, if it was saved. */
export async function replacedConfig(file: string, { pid }: ServiceStatus, host: UpgradeHost) {
  const startedAtMs = pid === undefined ? undefined : host.startedAtMs(pid);
  if (startedAtMs === undefined) return undefined;
  return readReplaced(file, startedAtMs, host.trust).catch(() => undefined);
}

/**
 * Returns the config that the running daemon uses. Prefers the copy that the daemon stored, but a Go release stores none. Without that copy,
 * returns the saved content that the file had when the daemon started. Without either, reads the file.
 */
async function configOfDaemon(status: ServiceStatus, host: UpgradeHost) {
  const file = configFileOf(status.command.args, defaultConfigPath());
  // An untrusted copy counts as absent.
  const served = await new ConfigHistory(file, host.trust).newest('served').catch(() => undefined);
  const kept = served?.bytes;
  const replaced = kept === undefined ? await replacedConfig(file, status, host) : undefined;
  if (replaced !== undefined) {
    // This release may not understand the config of a Go daemon.
    const pipe = await unlessInvalid(() => parseConfig(replaced).config.listen);
    return { file, bytes: replaced, pipe };
  }
  // Ignore an invalid config: a rollback cannot use it, and the new program checks it later.
  return unlessInvalid(async () => {
    const bytes = kept ?? (await loadConfig(file, { trust: host.trust })).bytes;
    return bytes && { file, bytes, pipe: parseConfig(bytes).config.listen };
  });
}

/** Resolves with undefined if `read` finds an invalid config. */
export async function unlessInvalid<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

async function read(file: string) {
  const opened = await openRegularFile(file, { followLinks: true }).catch(unlessNotFound);
  if (opened === undefined) return undefined;
  try {
    const { uid, gid, mode } = opened.stats;
    const owner = process.geteuid?.() === 0 ? { uid, gid } : undefined;
    const bytes = await readWhole(opened, { maxBytes: MAX_BYTES });
    return { bytes, rights: { mode: mode & 0o755, owner } };
  } finally {
    await opened.handle.close();
  }
}

const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

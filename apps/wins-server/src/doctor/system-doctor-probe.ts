import { verifyAuditLog, type AuditVerdict } from '@wins/audit-log';
import { type LoadedConfig, type WinsConfig } from '@wins/config';
import { loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { connectPipe, resolvePipePath } from '@wins/pipe-transport';
import {
  checkAllowedExecutables,
  doubtAllowedExecutables,
  findOrphans,
  ProcessError,
  type ProcessHost,
  type RecoveredProcess,
} from '@wins/process-manager';
import { createWinsClient, routeGrpcLog, type ApplicationInfo } from '@wins/wins-api';
import { access, constants, stat, statfs } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { release, type } from 'node:os';
import { tellsClientsApart } from '../admission/tells-clients-apart.js';
import { allowedBy } from '../configuration/allowed-executables.js';
import { auditDirectoryOf } from '../audit/audit-directory.js';
import { stateDirectoryOf } from '../state-directory.js';
import { programChecksum } from '../program-checksum.js';
import { loadUpgrader, type LatestUpgrade } from '../upgrade/upgrader.js';
import { COMMIT, VERSION } from '../version.js';
import { assertTrustedProgram } from '../upgrade/watched/examine-program.js';
import type {
  AuditFolder,
  DoctorProbe,
  FileJudgement,
  PipeAccess,
  Versions,
} from './doctor-probe.js';
import type { DoctorSystem } from './doctor-system.js';
import { messageOf } from './finding.js';

/** A daemon that takes longer to say which build it is does not answer. */
const ANSWER_TIMEOUT_MS = 5000;

/** As much of the audit log as a file of it has by default. */
const VERIFIED_BYTES = 8 * 1024 * 1024;
const OTHERS = 0o077;

/** Asks the system itself. */
export class SystemDoctorProbe implements DoctorProbe {
  private host: ProcessHost | undefined;

  /** @param executable - The file that this program is. */
  constructor(
    private readonly configFile: string,
    private readonly executable: string,
    private readonly system: DoctorSystem,
  ) {}

  async versions(): Promise<Versions> {
    const Checksum = await programChecksum(this.executable);
    const wins = { Checksum, Version: VERSION, Commit: COMMIT };
    const user = process.geteuid?.();
    const asked = user === undefined ? '' : `, asked by user ${user}`;
    return { wins, node: process.versions.node, system: `${type()} ${release()}${asked}` };
  }

  loadConfig(): Promise<LoadedConfig> {
    return loadDaemonConfig(this.configFile);
  }

  judgeFile(path: string): Promise<FileJudgement> {
    return judgementOf(this.processHost().assertTrustedFile(path));
  }

  judgeWatchedFile(path: string): Promise<FileJudgement> {
    return judgementOf(assertTrustedProgram(path, this.processHost()));
  }

  async auditFolder(config: WinsConfig): Promise<AuditFolder> {
    const path = auditDirectoryOf(config);
    const place = await judgementOf(this.processHost().assertTrustedDirectory(path));
    if (place.kind === 'missing') return { path, place, faults: [] };
    const mode = (await stat(path)).mode & 0o7777;
    const faults: string[] = [];
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      faults.push(`it has mode ${mode.toString(8)}; wanted 700`);
    }
    await access(path, constants.W_OK).catch((error: unknown) =>
      faults.push(`it cannot be written: ${messageOf(error)}`),
    );
    const { bavail, bsize } = await statfs(path);
    return { path, place, faults, freeBytes: bavail * bsize };
  }

  verifyAudit(directory: string): Promise<AuditVerdict> {
    return verifyAuditLog(directory, { newestBytes: VERIFIED_BYTES });
  }

  latestUpgrade(): Promise<LatestUpgrade | undefined> {
    return loadUpgrader().latestUpgrade(process.env['WINS_SERVICE']);
  }

  faultyEntries(
    config: WinsConfig,
  ): readonly { readonly index: number; readonly message: string }[] {
    const dialect = process.platform === 'win32' ? 'windows' : 'posix';
    return checkAllowedExecutables(allowedBy(config), dialect);
  }

  async doubtfulEntries(config: WinsConfig): Promise<readonly { readonly message: string }[]> {
    const dialect = process.platform === 'win32' ? 'windows' : 'posix';
    const tellsCallersApart = await tellsClientsApart(config);
    return doubtAllowedExecutables(allowedBy(config), dialect, { tellsCallersApart });
  }

  async reachPipe(name: string): Promise<void> {
    (await this.connect(name)).destroy();
  }

  pipeAccess(name: string, wanted?: string): Promise<PipeAccess> {
    return this.system.pipeAccess(resolvePipePath(name).address, wanted);
  }

  async daemonInfo(name: string): Promise<ApplicationInfo> {
    const { address } = resolvePipePath(name);
    // Whoever has the pipe could write on our terminal by it; what is wrong with the daemon the finding says.
    routeGrpcLog(() => undefined);
    const client = createWinsClient({
      address,
      clientName: 'wins doctor',
      ...(this.system.security && { dial: () => this.connect(name) }),
    });
    try {
      return await client.info({ signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    } finally {
      await client.close();
    }
  }

  orphans(config: WinsConfig): Promise<readonly RecoveredProcess[]> {
    return findOrphans({
      allowed: allowedBy(config),
      stateDirectory: stateDirectoryOf(config.listen),
      host: this.processHost(),
    });
  }

  private connect(name: string): Promise<Socket> {
    return connectPipe(name, { security: this.system.security });
  }

  private processHost(): ProcessHost {
    return (this.host ??= this.system.processHost());
  }
}

/** What the check of a file comes to. */
async function judgementOf(check: Promise<void>): Promise<FileJudgement> {
  try {
    await check;
    return { kind: 'trusted' };
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    if (error.code === 'notFound') return { kind: 'missing' };
    if (error.code === 'pathNotTrusted') {
      return { kind: 'untrusted', rule: error.rule ?? 'unknown', message: error.message };
    }
    throw error;
  }
}

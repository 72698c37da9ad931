import { ensurePipeFolder } from './kept-directory.js';
import { adminPipeOf, COMMIT, VERSION } from '@wins/base';
import {
  applicationServiceDefinition,
  type ApplicationServiceServer,
} from '@wins/wins-api/contract';
import { FEATURES } from './features/features.js';
import { noteAdministrators } from './kernel/admin-pipe.js';
import { createKernel, type KernelParts } from './kernel/create-kernel.js';
import type { Feature, Kernel } from './kernel/feature.js';
import { Health } from './kernel/rpc/health.js';
import { watchProcess } from './kernel/watch-process.js';

/** Time limit for pending answers at shutdown. */
const DRAIN_MS = 2000;

export interface DaemonParts extends Omit<KernelParts, 'features' | 'onConfig'> {
  readonly features?: readonly Feature[];
  readonly onConfig?: KernelParts['onConfig'];
}

export interface Daemon {
  readonly address: string;
  readonly kernel: Kernel;
  /** Starts the features of the stage `works`; afterwards the daemon is ready. */
  work(): Promise<void>;
  /** Accepts no new work, ends all features, lets pending answers and streams finish, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves the pipes and all features, or fails and serves nothing. Takes the main pipe first, so that no other daemon can serve the main
 * pipe while this daemon ends leftover processes. @throws PipeError.
 */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { kernel, features, pipe, adminPipe, config } = createKernel({
    ...parts,
    features: parts.features ?? FEATURES,
    onConfig: (next) => {
      parts.onConfig?.(next);
      // Opens the administrators' pipe if an earlier attempt failed.
      void adminPipe.open();
    },
  });
  const { logger, audit, resources } = kernel;
  const { listen } = config.start.loaded.config;
  const health = new Health(['', 'wins.ApplicationService', ...features.healthNames]);
  const application: ApplicationServiceServer = {
    info: (_call, respond) =>
      void kernel.checksum.then((checksum) =>
        respond(null, { info: { checksum, version: VERSION, commit: COMMIT } }),
      ),
  };
  pipe.server.addService(applicationServiceDefinition, application);
  features.addServices(
    pipe.server,
    'main',
    noteAdministrators(pipe.connections, logger, adminPipeOf(listen)),
  );
  health.addTo(pipe.server);
  ensurePipeFolder(listen, kernel.trust);
  const address = await pipe.listen();
  let isOpen = false;
  const updateHealth = (): void => health.set(isOpen && audit.isAvailable);
  const closeLast = async (): Promise<void> => {
    await audit.close();
    await features.closeObserving();
    // Close the pipe after the audit log and the features, because the next daemon that owns the pipe writes to the same folders.
    await pipe.close();
    resources[Symbol.dispose]();
  };
  try {
    await features.start('observes');
    await audit.open(updateHealth);
    await features.start('serves');
  } catch (error) {
    await features.closeServing(() => Promise.resolve());
    await closeLast();
    throw error;
  }
  isOpen = true;
  updateHealth();
  pipe.open();
  await adminPipe.open();
  const watches = watchProcess(kernel);
  config.recordStart();
  // Later than the start, because the event of a start ends what is known of the daemon before.
  const reporting = features.reportTo(health);

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    reporting[Symbol.dispose]();
    await features.closeWorking();
    await adminPipe[Symbol.asyncDispose]();
    watches[Symbol.dispose]();
    isOpen = false;
    updateHealth();
    await features.closeServing(() => pipe.drain(DRAIN_MS));
    await closeLast();
  };
  return {
    address,
    kernel,
    work: () => features.start('works'),
    close: () => (closing ??= close()),
  };
}

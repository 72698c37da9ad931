import { ConfigError } from '@wins/config';
import { ProcessError, type ProcessManager } from '@wins/process-manager';
import type {
  ConfigExplainRequest,
  ConfigProblem,
  ConfigServiceServer,
} from '@wins/wins-api/contract';
import { quoteText } from '@wins/base';
import {
  portVerdict,
  type PortVerdict,
  type SubjectVerdict,
  programVerdict,
} from '../../configuration/subject-verdict.js';
import type { ConfigChange, DaemonConfig } from '../../kernel/feature.js';
import { SET_LEVELS, type Logger, type LogLevel } from '../../kernel/log/logger.js';
import { FeatureError } from '../../kernel/feature-error.js';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { Caller } from '../../kernel/rpc/connections.js';
import { respondWith } from '../../kernel/rpc/rpc-errors.js';
import {
  administratorsOnly,
  recordAction,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import type { FollowedConfig } from './follow-config.js';

const MOST_PROBLEMS = 100;
const LONGEST_LEVEL_SECONDS = 86_400;

export interface ConfigServiceParts {
  readonly config: Pick<DaemonConfig, 'start' | 'inForce' | 'needRestart'>;
  readonly reload: FollowedConfig['reload'];
  readonly manager: () => Pick<ProcessManager, 'judge'>;
  readonly callers: Callers;
  readonly logger: Logger;
  readonly level: Pick<LogLevel, 'now' | 'set' | 'reset'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** A client learns no more from `explain` than from trying the action. Only administrators learn the path and the content of the config. */
export function createConfigService(parts: ConfigServiceParts): ConfigServiceServer {
  const { config, callers, logger, level } = parts;
  const administered = administratorsOnly(callers, 'show or change the config');
  return {
    explain: (call, respond) => {
      const answer = async () => {
        const verdict = await verdictOf(call.request, call, parts);
        const { isAdministrator } = callers.clientOf(call);
        const message = ({ allowed, code, reason, entry }: SubjectVerdict) => ({
          allowed,
          code,
          reason,
          ...(isAdministrator && { entry }),
        });
        return { ...message(verdict), ...(verdict.udp && { udp: message(verdict.udp) }) };
      };
      respondWith(respond, answer());
    },
    describe: (call, respond) =>
      administered(call, respond, () => {
        const now = config.inForce();
        const isWhole = config.needRestart(now).length === 0;
        const { sha256 = '' } = isWhole ? now : config.start.loaded;
        return {
          file: now.path,
          found: now.found,
          sha256,
          pid: process.pid,
          startedAtMs: Math.round(Date.now() - process.uptime() * 1000),
        };
      }),
    reload: (call, respond) =>
      administered(call, respond, () => {
        const { description } = callers.clientOf(call);
        const { allowDrop } = call.request;
        logger.info({ client: description, allowDrop }, 'asked to reload the config');
        return reloadAnswer(parts, allowDrop);
      }),
    logLevel: (call, respond) =>
      administered(call, respond, async () => {
        const { level: wanted, seconds } = call.request;
        if (wanted !== '') {
          requireLevel(wanted, seconds);
          await recordAction(call, parts, { action: 'debugLogLevel', name: wanted });
        }
        const named = SET_LEVELS.find((name) => name === wanted);
        if (named !== undefined) level.set(named, seconds * 1000);
        else if (wanted !== '') level.reset();
        const { now } = level;
        return { level: now.level, until: now.until?.toISOString() ?? '' };
      }),
  };
}

function requireLevel(wanted: string, seconds: number): void {
  const names: readonly string[] = [...SET_LEVELS, 'default'];
  const refused = (found: string, range: string): FeatureError =>
    new FeatureError('invalidArgument', `cannot change the log: found ${found}; wanted ${range}`);
  if (!names.includes(wanted))
    throw refused(`the level ${quoteText(wanted)}`, `one of ${names.join(', ')}`);
  if (wanted !== 'default' && !(seconds > 0 && seconds <= LONGEST_LEVEL_SECONDS))
    throw refused(`${seconds} s`, `more than 0 and at most ${LONGEST_LEVEL_SECONDS} s`);
}

async function verdictOf(
  { subject }: ConfigExplainRequest,
  call: Caller,
  { config, manager, callers }: ConfigServiceParts,
): Promise<SubjectVerdict & Partial<PortVerdict>> {
  const loaded = config.inForce();
  switch (subject?.$case) {
    case 'program': {
      const { path, digestSha256: sha256 } = subject.value;
      const { names: callerNames } = callers.clientOf(call);
      const question = { path, sha256, callerNames };
      const verdict = await manager().judge(question, callers.ownerOf(call));
      const told = programVerdict(verdict, sha256 !== '', loaded);
      // Only administrators see the reason for an allowed program, because it reveals that the entry pins digests.
      const { isAdministrator } = callers.clientOf(call);
      return told.allowed && !isAdministrator ? { ...told, reason: '' } : told;
    }
    case 'port':
      return portVerdict(subject.value, loaded);
    case undefined:
      throw new ProcessError(
        'invalidArgument',
        'cannot explain a request: it names neither a program nor a port',
      );
  }
}

const NO_CHANGE: ConfigChange = { changed: [], changes: [], needRestart: [] };

async function reloadAnswer({ config, reload }: ConfigServiceParts, allowDrop: readonly string[]) {
  try {
    const { loaded, change } = await reload(allowDrop);
    const problems = problemMessages(loaded.warnings);
    return { file: loaded.path, rejected: false, problems, ...change };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = problemMessages(error.problems);
    return { file: config.inForce().path, rejected: true, problems, ...NO_CHANGE };
  }
}

/** Errors come first, so that the limit cuts off other problems. */
function problemMessages(problems: ConfigError['problems']): ConfigProblem[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const others = problems.filter(({ severity }) => severity !== 'error');
  const told = [...errors, ...others].slice(0, MOST_PROBLEMS);
  return told.map(({ keyPath: key, ...problem }) => ({ ...problem, key }));
}

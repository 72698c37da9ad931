import path from 'node:path';

import { childEnvironment } from './policy/child-environment.js';
import {
  judgeExecutablePath,
  parsePath,
  type AllowedExecutable,
} from './policy/executable-policy.js';
import { expectedDigest, type ExpectedDigest } from './staging/expected-digest.js';
import type { ExposedPort, ProcessOwner } from './supervision/managed-process.js';
import type { PathDialect } from './policy/parsed-path.js';
import { ProcessError } from './process-error.js';
import { processName, stagedPathOf } from './policy/process-name.js';
import { quoteText } from './quote-text.js';

/** What a client asks to run. */
export interface StartRequest {
  /** Absolute path of the program on the host. */
  readonly path: string;
  /** Digests of the file as the client sees it, hexadecimal; at least one, the stronger decides. */
  readonly sha1?: string;
  readonly sha256?: string;
  /** Passed as they are; no shell is involved. */
  readonly args: readonly string[];
  /** `NAME=value` entries on top of the inherited environment. */
  readonly envs: readonly string[];
  /** Absolute working directory; default the directory of the program. */
  readonly directory?: string;
  readonly exposes?: readonly ExposedPort[];
  readonly owner: ProcessOwner;
}

/** What a request comes to once the policy allowed it. */
export interface StartPlan {
  readonly rule: AllowedExecutable;
  readonly name: string;
  readonly path: string;
  readonly stagedPath: string;
  readonly digest: ExpectedDigest;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** What the plan depends on besides the request. */
export interface PlanningContext {
  readonly allowed: readonly AllowedExecutable[];
  readonly environment: NodeJS.ProcessEnv;
  readonly dialect: PathDialect;
}

/**
 * Judges a request from data alone; no file is touched, so a refusal tells nothing about the host.
 *
 * @throws ProcessError `invalidPath`, `pathNotAllowed`, `invalidArgument`, `envNotAllowed`.
 */
export function planStart(request: StartRequest, context: PlanningContext): StartPlan {
  const { dialect } = context;
  const verdict = judgeExecutablePath(request.path, context.allowed, dialect);
  if (!verdict.allowed) {
    const { code, message, rule } = verdict;
    throw new ProcessError(code, message, { path: request.path, rule });
  }
  if (request.args.some((argument) => argument.includes('\0'))) {
    throw new ProcessError('invalidArgument', 'cannot pass an argument that holds NUL');
  }
  for (const { protocol, port } of request.exposes ?? []) {
    if (Number.isInteger(port) && port >= 1 && port <= 65_535) continue;
    const found = `${protocol} port ${port}`;
    throw new ProcessError('invalidArgument', `cannot expose ${found}; wanted 1 to 65535`);
  }
  const { executable, rule } = verdict;
  return {
    rule,
    name: processName(executable.baseName),
    path: executable.canonical,
    stagedPath: stagedPathOf(executable),
    digest: expectedDigest(request.sha1, request.sha256),
    args: request.args,
    env: childEnvironment({
      ...{ base: context.environment, envs: request.envs, dialect },
      allowedNames: rule.envs ?? [],
    }),
    directory: workingDirectory(request.directory ?? '', executable.canonical, dialect),
  };
}

function workingDirectory(asked: string, executable: string, dialect: PathDialect): string {
  const rules = dialect === 'windows' ? path.win32 : path.posix;
  if (asked === '') return rules.dirname(executable);
  const parsed = parsePath(asked, dialect);
  if (!('refused' in parsed)) return parsed.canonical;
  throw new ProcessError(
    'invalidArgument',
    `cannot use the working directory ${quoteText(asked)}: ${parsed.refused}`,
    { path: asked, rule: parsed.refused },
  );
}

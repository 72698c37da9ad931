import type { AgentOptions } from '../system-agent.js';
import type { OutputFiles } from './output-files.js';
import type { Pass } from './pass.js';
import type { Warnings } from './warnings.js';
import type { WorkFolder } from './work-folder.js';

export type ApplierOptions = Omit<AgentOptions, 'localPlanDirectory' | 'secrets' | 'trust'>;

export interface PassContext {
  readonly options: ApplierOptions;
  readonly pass: Pass;
  /** Names and the times of periodic instructions derive from it. */
  readonly now: Date;
  readonly work: WorkFolder;
  readonly outputs: OutputFiles;
  readonly warnings: Warnings;
  readonly signal: AbortSignal;
}
